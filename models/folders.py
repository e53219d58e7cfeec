"""Folders that are made once and then only read, and files that are replaced as a whole.

A process may be killed and a machine lose its power at any moment: what is half made is never seen, what was made is on
the disk before it gets its name, and what was damaged later is told by its files' sizes and made again.
"""
from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SEAL = ".sizes.json"  # in every folder made here: the size of each file
LEFT = 3600.0  # seconds after which a temporary folder is what a killed process left


@contextmanager
def making(target: Path) -> Iterator[Path]:
    """A temporary folder beside `target` that becomes it when the block ends well.

    If another process made `target` meanwhile, its result stands.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield work
        _seal(work)
        try:
            work.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def standing(folder: Path) -> bool:
    """Whether it is there as it was made. One with missing or cut files is removed, to be made again."""
    if not folder.is_dir():
        return False
    try:
        sizes = json.loads((folder / SEAL).read_text("utf-8"))
        whole = all((folder / name).stat().st_size == size for name, size in sizes.items())
    except FileNotFoundError as error:
        whole = Path(error.filename).name == SEAL  # made before there were seals
    except (OSError, ValueError):
        whole = False
    if not whole:
        shutil.rmtree(folder, ignore_errors=True)
    return whole


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A temporary file beside `target` that takes its place when the block ends well."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".new", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
        sync(Path(name))
        os.replace(name, target)
        sync(target.parent)
    finally:
        Path(name).unlink(missing_ok=True)


def _seal(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    for file in files:
        sync(file)
    sizes = {file.relative_to(folder).as_posix(): file.stat().st_size for file in files}
    (folder / SEAL).write_text(json.dumps(sizes), "utf-8")
    sync(folder / SEAL)


def sync(path: Path) -> None:
    """Have a file, or a folder's list of names, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(target: Path) -> None:
    """Remove what killed processes left beside it."""
    for left in target.parent.glob(f".{target.name}.*"):
        try:
            if time.time() - left.stat().st_mtime < LEFT:
                continue
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        except OSError:  # another process was quicker
            pass
