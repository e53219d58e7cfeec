"""The real product as a subprocess: `app.py serve` on a free port, ready, with its address."""
from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Served:
    """url: the page's address with a trailing slash. pid: the server's process. log: file with all it printed."""

    url: str
    pid: int
    log: Path

    def get(self, path: str) -> Any:
        """The JSON under `path`, such as "api/pool". Raises urllib.error.HTTPError."""
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return json.load(answer)

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """An open response to a JSON POST: read it in pieces, or close it to hang up. Raises urllib.error.HTTPError."""
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})}
        )
        return urllib.request.urlopen(request, timeout=120)

    def idle(self) -> bool:
        """No session runs or holds a request."""
        return not any(session["queue"] or session["running"] for session in self.get("api/pool")["sessions"])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serve(
    config: Path | None = None, arguments: tuple[str, ...] = (), env: Mapping[str, str] | None = None,
    timeout: float = 900.0, program: tuple[str, ...] = (str(ROOT / "app.py"), "serve"),
) -> Iterator[Served]:
    """Start the product, or another `program` that serves it, wait for /readyz, and end it afterwards.

    Raises RuntimeError with the end of its log when it dies or isn't ready after `timeout` seconds (the first start
    on a machine downloads the weights).
    """
    port = free_port()
    command = [sys.executable, *program, "--host", "127.0.0.1", "--port", str(port)]
    command += ["--config", str(config)] if config else []
    log = Path(tempfile.mkdtemp(prefix="readyvoice-served-")) / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, *arguments], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}
        )
    served = Served(f"http://127.0.0.1:{port}/", process.pid, log)
    try:
        _wait_until_ready(served, process, timeout)
        yield served
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(served: Served, process: subprocess.Popen, timeout: float) -> None:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}:\n{_tail(served.log)}")
        try:
            with urllib.request.urlopen(served.url + "readyz", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the server was not ready after {timeout:.0f} s:\n{_tail(served.log)}")


def _tail(log: Path, size: int = 4000) -> str:
    return log.read_text("utf-8", "replace")[-size:]
