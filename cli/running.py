"""The file by which `reload` finds a running server: below READYVOICE_HOME, one a port."""
from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from models.weights import home


@dataclass(frozen=True)
class Running:
    """pid and started (of the process, in seconds since 1970) tell it from a later process with the same number.
    host: to reach it from here. config: its configuration file."""

    pid: int
    started: float
    host: str
    port: int
    config: str

    @property
    def alive(self) -> bool:
        try:
            return abs(psutil.Process(self.pid).create_time() - self.started) < 1
        except psutil.Error:
            return False


def _folder() -> Path:
    return home() / "running"


@contextmanager
def noted(host: str, port: int, config: Path) -> Iterator[None]:
    """While this process serves there."""
    reach = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    own = Running(os.getpid(), psutil.Process().create_time(), reach, port, str(config.resolve()))
    file = _folder() / f"{port}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.{own.pid}")
    partial.write_text(json.dumps(asdict(own)), "utf-8")
    partial.replace(file)
    try:
        yield
    finally:
        if (found := _read(file)) is not None and found.pid == own.pid:
            file.unlink(missing_ok=True)


def find(port: int) -> Running | None:
    """The server that runs on this port, if one does."""
    found = _read(_folder() / f"{port}.json")
    return found if found is not None and found.alive else None


def _read(file: Path) -> Running | None:
    try:
        return Running(**json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
