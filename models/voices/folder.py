"""Files that are whole or not there, whatever ends the process, and a lock between processes."""
from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from models.errors import SpeechError
from models.folders import replacing, sync

STALE = 3600  # seconds after which an unfinished folder has nobody working on it any more


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process and thread at a time among all that change this folder.

    Raises SpeechError("storage_failed") for what can't be written: the disk is full, or may not be written to.
    """
    from filelock import FileLock

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(folder / ".lock", timeout=60, mode=0o600):
            yield
    except OSError as error:
        raise SpeechError("storage_failed", path=folder, reason=error.strerror or type(error).__name__) from error


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside `target` that becomes it, on the disk too, when the block ends well."""
    work = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        yield work
        for path in sorted(work.rglob("*"), reverse=True):
            sync(path)
        sync(work)
        work.rename(target)
        sync(target.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def write(path: Path, data: bytes) -> None:
    """Replace a file's content at one stroke."""
    with replacing(path) as work:
        work.write_bytes(data)


def sweep(folder: Path) -> None:
    """Remove what unfinished work of processes that are gone has left."""
    for path in [*folder.glob(".new-*"), *folder.glob("*/.*.new"), *folder.glob("*/states/.*.new")]:
        try:
            if time.time() - path.stat().st_mtime > STALE:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        except OSError:
            pass
