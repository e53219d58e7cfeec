"""Files from the model hub, by the parts of its client that can go on where a broken-off download ended.

The client's own `snapshot_download` throws away what it has of a file when its process ends: with files of gigabytes
that is no resume.
"""
from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

from filelock import FileLock
from tqdm import tqdm

from models.errors import SpeechError, first_line

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

ANSWER_TIMEOUT = 5.0  # seconds the hub has to answer at all
EVERY = 5  # percent of a download between two lines about it
BLOCK = 8 << 20  # bytes hashed at once
ADVICE = ("connect this machine to the model hub and start again (what is here already is kept), set HF_ENDPOINT to a "
          "mirror or READYVOICE_MIRROR=modelscope, or copy the checkpoint here and give its folder as `path` in config.toml")


class HubRefused(SpeechError):
    """The hub answers, but not to this reader: terms to accept, or a token to give."""


class Damaged(Exception):
    """A file whose checksum is not the published one."""


class Meter:
    """Bytes of all files together, told every few percent."""

    def __init__(self, total: int, progress: Callable[[str], None]):
        self._total, self._progress = total, progress
        self._done = self._told = 0

    def add(self, size: int) -> None:
        self._done += size
        share = min(100, 100 * self._done // self._total) if self._total else 0
        if share >= self._told + EVERY or share == 100 > self._told:
            self._told = share
            self._progress(f"{share} % of {self._total / 1e6:.0f} MB")


def download(repo: str, revision: str | None, patterns: Sequence[str], target: Path, model: str,
             progress: Callable[[str], None]) -> None:
    """Those files of `repo` that match `patterns` into `target`; each appears there once it is whole.

    Raises SpeechError("weights_missing"), HubRefused.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError
    from huggingface_hub.utils import filter_repo_objects

    endpoint = os.environ.get("HF_ENDPOINT") or ENDPOINT
    host = urlsplit(endpoint).netloc
    try:
        info = HfApi(endpoint=endpoint).repo_info(repo, revision=revision, timeout=ANSWER_TIMEOUT, files_metadata=True)
        files = list(filter_repo_objects(info.siblings, allow_patterns=list(patterns), key=lambda file: file.rfilename))
        if not files:
            raise _missing(model, f"{repo} on {host} has none of the files that are needed")
        meter = Meter(sum(file.size or 0 for file in files), progress)
        target.mkdir(parents=True, exist_ok=True)
        with FileLock(target / ".lock"), _silent_client():
            for file in files:
                _fetch(repo, info.sha, file, target, endpoint, meter)
    except SpeechError:
        raise
    except GatedRepoError as error:
        raise HubRefused("weights_missing", model=model, reason=f"{repo} asks for a login",
                         advice=f"accept the terms on the page of {repo} and log in with `hf auth login`") from error
    except RepositoryNotFoundError as error:  # the hub says so of private ones too
        raise _missing(model, f"{host} answers {error.response.status_code}: it has no {repo}, or keeps it to itself",
                       "log in with `hf auth login` if it is yours, unset HF_ENDPOINT if that names a mirror without "
                       "it, or give a folder as `path` in config.toml") from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status in (401, 403):
            raise HubRefused("weights_missing", model=model, reason=f"{host} answers {status} for {repo}",
                             advice=f"log in with `hf auth login` as somebody who may read {repo}") from error
        raise _missing(model, f"{host} answers {status} for {repo}") from error
    except Damaged as error:
        raise _missing(model, f"{error} arrived from {host} damaged", "start again: it alone is fetched anew") from error
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise _missing(model, f"{host} does not answer: {first_line(error)}") from error
        raise _missing(model, f"the disk that holds {target} is full", "free some space and start again, or move all that "
                       "is fetched with READYVOICE_HOME") from error
    except Exception as error:  # the hub's client lets those of its transport through, whatever that is
        raise _missing(model, f"{host} does not answer: {first_line(error)}") from error


def _missing(model: str, reason: str, advice: str = ADVICE) -> SpeechError:
    return SpeechError("weights_missing", model=model, reason=reason, advice=advice)



def _fetch(repo: str, commit: str | None, file: RepoSibling, target: Path, endpoint: str, meter: Meter) -> None:
    """One file, after what an earlier try has left of it."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    path = target / file.rfilename
    if path.is_file() and _right(path, file):
        meter.add(path.stat().st_size)
        return
    address = hf_hub_url(repo, file.rfilename, revision=commit, endpoint=endpoint)
    there = get_hf_file_metadata(address, timeout=ANSWER_TIMEOUT, endpoint=endpoint)
    part = target / ".parts" / f"{file.rfilename.replace('/', '--')}.{(there.etag or 'none')[:16]}"
    part.parent.mkdir(exist_ok=True)
    done = part.stat().st_size if part.is_file() else 0
    if there.size is not None and done > there.size:
        part.unlink()
        done = 0
    meter.add(done)
    with part.open("ab") as stream:
        # not there.location: each try asks for a fresh link to the storage, as they run out; the token stays with the hub
        http_get(address, _Metered(stream, meter), resume_size=done, headers=build_hf_headers(),
                 expected_size=there.size, tqdm_class=NoBar)
    if not _right(part, file):
        part.unlink()
        raise Damaged(file.rfilename)
    path.parent.mkdir(parents=True, exist_ok=True)
    part.replace(path)


def _right(path: Path, file: RepoSibling) -> bool:
    """Whether a file on disk is the published one, by its checksum; by its size where the hub tells none."""
    if file.lfs is not None:
        wanted, hasher = file.lfs.sha256, hashlib.sha256()
    elif file.blob_id is not None:
        wanted, hasher = file.blob_id, hashlib.sha1(f"blob {path.stat().st_size}\0".encode())
    else:
        return file.size is None or path.stat().st_size == file.size
    if file.size is not None and path.stat().st_size != file.size:
        return False
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            hasher.update(block)
    return hasher.hexdigest() == wanted


class _Metered:
    """A file whose growth is metered; cut, when a server begins anew."""

    def __init__(self, stream: BinaryIO, meter: Meter):
        self._stream, self._meter = stream, meter
        self.seek, self.tell = stream.seek, stream.tell

    def write(self, data: bytes) -> int:
        self._meter.add(len(data))
        return self._stream.write(data)

    def truncate(self, size: int | None = None) -> int:
        before = os.fstat(self._stream.fileno()).st_size
        after = self._stream.truncate(size)
        self._meter.add(after - before)
        return after


class NoBar(tqdm):
    """A progress bar that draws nothing."""

    def __init__(self, *args, name: str = "", **options):
        super().__init__(*args, **{**options, "disable": True})


@contextmanager
def _silent_client() -> Iterator[None]:
    """The client tells the console of every interruption it gets over."""
    from huggingface_hub.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)
