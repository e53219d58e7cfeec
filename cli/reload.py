"""Reading the configuration again: the server's part on SIGHUP, and the command that asks for it."""
from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from cli import running
from cli.progress import Steps
from models.config import Config, load_config
from models.errors import SpeechError
from models.pool import Pool
from models.reload import apply
from server.auth.secret import operator_key

log = logging.getLogger("readyvoice.reload")
POLL = 0.3  # seconds between two looks at the server


class Reloader:
    """reread: the configuration as its file says now. One reading at a time; a signal that comes meanwhile has it read
    once more."""

    def __init__(self, pool: Pool, reread: Callable[[], Config], steps: Steps):
        self._pool, self._reread, self._steps = pool, reread, steps
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """On the event loop."""
        self._asked.set()

    async def serve(self) -> None:
        """For as long as the server runs."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            await asyncio.to_thread(self._reload)

    def _reload(self) -> None:
        self._steps.line(3, "reading the configuration again", always=True)
        try:
            problems = apply(self._pool, self._reread())
        except SpeechError as error:  # a faulty file changes nothing
            problems = [error]
        except Exception as error:
            log.exception("the configuration could not be applied")
            problems = [SpeechError("config_file", path="config.toml", reason=error)]
        told = [problem.sentence() for problem in problems]
        for line in told:
            self._steps.line(6, line, always=True)
        self._steps.line(6, "the configuration is in force" + (", but for the above" if told else ""), always=True)
        self._pool.reloads = {"count": self._pool.reloads["count"] + 1, "problems": told}


def reload(config: Path, port: int | None) -> int:
    """Have the server on `port` (the configuration's if None) read its file again; returns the exit status when it has.

    Raises SpeechError for a file that the server would refuse, and "server_unknown" where none runs.
    """
    port = port if port is not None else load_config(config).server.port
    server = running.find(port)
    if server is None:
        raise SpeechError("server_unknown", "port", port=port)
    load_config(Path(server.config))
    host = f"[{server.host}]" if ":" in server.host else server.host
    allowed = {"Authorization": f"Bearer {operator_key()}"}
    with httpx.Client(base_url=f"http://{host}:{server.port}", headers=allowed, timeout=10, trust_env=False) as client:
        before = _reloads(client)
        os.kill(server.pid, signal.SIGHUP)
        print(f"the server on port {port} reads {server.config} again …", flush=True)
        if before["count"] is None:
            print("it can't be asked how that went: its own output says so")
            return 0
        while (after := _reloads(client))["count"] == before["count"]:
            if not server.alive:
                print("the server has ended meanwhile", file=sys.stderr)
                return 1
            time.sleep(POLL)
    for line in after["problems"]:
        print(line, file=sys.stderr)
    print("done" + (", but for the above" if after["problems"] else ""))
    return 1 if after["problems"] else 0


def _reloads(client: httpx.Client) -> dict:
    try:
        return client.get("/api/pool").json()["reloads"]
    except (httpx.HTTPError, ValueError, KeyError):
        return {"count": None, "problems": []}
