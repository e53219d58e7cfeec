"""Another engine in a virtual environment of its own, as a long-lived child process spoken to in lines of JSON."""
from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.weights import home

SCRIPTS = Path(__file__).parent / "peers"


def environment(name: str, requirements: Sequence[str], borrow: bool = False) -> Path:
    """The Python of a virtual environment with these packages, made below home()/benchmarks on first use.

    borrow: what is installed here counts as installed there, behind its own packages: the same torch on both sides,
    and not two gigabytes of it again.
    """
    mark = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()[:12]
    folder = home() / "benchmarks" / f"{name}-{mark}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = folder / "ready"
    if not ready.exists():
        print(f"making an environment for {name}: {', '.join(requirements)}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        if borrow:
            ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
            theirs = Path(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip())
            (theirs / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements],
                       check=True)
        ready.touch()
    return python


class Peer:
    """`script` (in benchmarks/peers, importing nothing of ours) reads one JSON object a line and answers with one.

    A context manager; leaving it ends the process. `settings` is its first line, answered when it is ready.
    """

    def __init__(self, python: Path, script: str, settings: dict[str, Any]):
        self._process = subprocess.Popen([str(python), str(SCRIPTS / script)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.about = self.ask(settings)

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """One question, one answer. Raises RuntimeError when the child died."""
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the peer ended with status {self._process.wait()}")
        return json.loads(line)

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
