"""Files from the model hub: fetched once into home()/ROOM, whole or not at all, resumed where a download broke off.

READYVOICE_MIRROR=modelscope takes them from ModelScope instead, HF_ENDPOINT from another host of the hub's kind.
"""
from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from tqdm import tqdm

from models.errors import SpeechError
from models.weights import home, is_offline

MIRROR = "READYVOICE_MIRROR"
MIRRORS = ("modelscope",)
ANSWER_TIMEOUT = 5.0  # seconds the hub has to answer at all
EVERY = 5  # percent of a download between two lines about it
ADVICE = ("connect this machine to the model hub and start again (what is here already is kept), set HF_ENDPOINT to a "
          "mirror or READYVOICE_MIRROR=modelscope, or copy the checkpoint here and give its folder as `path` in config.toml")


class HubRefused(SpeechError):
    """The hub answers, but not to this reader: terms to accept, or a token to give."""


def hub_folder(repo: str, revision: str | None, patterns: Sequence[str], room: str, model: str,
               progress: Callable[[str], None] = lambda line: None) -> Path:
    """The folder below home()/room with those files of `repo` that match `patterns`, laid out as in the repository.

    Without network when they are here already. Raises SpeechError("weights_missing") within seconds when the hub
    doesn't answer, HubRefused when it wants a login.
    """
    target = _target(repo, revision, room)
    marker = _marker(target, patterns)
    if marker.is_file():
        return target
    if is_offline():
        raise SpeechError("weights_missing", model=model, reason="the network was not asked", advice=ADVICE)
    if mirror_of():
        from models import modelscope

        progress(f"fetching {repo} from ModelScope")
        modelscope.download(repo, patterns, target, model, progress)
    else:
        progress(f"fetching {repo} from the model hub")
        _download(repo, revision, list(patterns), target, model, progress)
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text("\n".join(patterns), "utf-8")
    return target


def is_here(repo: str, revision: str | None, patterns: Sequence[str], room: str) -> bool:
    """Whether `hub_folder` would need no network."""
    return _marker(_target(repo, revision, room), patterns).is_file()


def mirror_of() -> str:
    """The mirror that is asked instead of the hub, "" for none. Raises SpeechError("field_invalid")."""
    name = os.environ.get(MIRROR, "").strip().lower()
    if name and name not in MIRRORS:
        raise SpeechError("field_invalid", MIRROR, name=MIRROR, expected=", ".join(MIRRORS))
    return name


def _target(repo: str, revision: str | None, room: str) -> Path:
    return home() / room / f"{repo.replace('/', '--')}-{(revision or 'main')[:12]}"


def _marker(target: Path, patterns: Sequence[str]) -> Path:
    wanted = hashlib.sha256("\0".join(sorted(patterns)).encode()).hexdigest()[:16]
    return target / ".complete" / wanted


def _download(repo: str, revision: str | None, patterns: list[str], target: Path, model: str,
              progress: Callable[[str], None]) -> None:
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    endpoint = os.environ.get("HF_ENDPOINT") or None
    host = urlsplit(endpoint or ENDPOINT).netloc
    try:
        HfApi(endpoint=endpoint).repo_info(repo, revision=revision, timeout=ANSWER_TIMEOUT)
        snapshot_download(repo, revision=revision, allow_patterns=patterns, local_dir=target, endpoint=endpoint,
                          etag_timeout=ANSWER_TIMEOUT, tqdm_class=_lines(progress))
    except GatedRepoError as error:
        raise HubRefused("weights_missing", model=model, reason=f"{repo} asks for a login",
                         advice=f"accept the terms on the page of {repo} and log in with `hf auth login`") from error
    except RepositoryNotFoundError as error:  # the hub says so of private ones too
        raise SpeechError("weights_missing", model=model, reason=f"{host} has no repository {repo}, or keeps it to itself",
                          advice="log in with `hf auth login` if it is yours, unset HF_ENDPOINT if that names a mirror "
                                 "without it, or give a folder as `path` in config.toml") from error
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "an error")
        if status in (401, 403):
            raise HubRefused("weights_missing", model=model, reason=f"{host} answers {status} for {repo}",
                             advice=f"log in with `hf auth login` as somebody who may read {repo}") from error
        raise SpeechError("weights_missing", model=model, reason=f"{host} answers {status} for {repo}",
                          advice=ADVICE) from error
    except Exception as error:  # the hub's client lets those of its transport through, whatever that is
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise SpeechError("weights_missing", model=model, reason=f"{host} does not answer: {reason}",
                          advice=ADVICE) from error


def _lines(progress: Callable[[str], None]) -> type[tqdm]:
    """A progress bar that draws nothing: every few percent of the bytes it tells `progress`."""

    class Lines(tqdm):
        def __init__(self, *args, name: str = "", **options):
            self._told = 0
            super().__init__(*args, **{**options, "file": io.StringIO(), "disable": False})

        def display(self, *args, **options) -> bool:
            done = int(100 * self.n / self.total) if self.unit == "B" and self.total else 0
            if done >= self._told + EVERY:
                self._told = done
                progress(f"{done} % of {self.total / 1e6:.0f} MB")
            return True

    return Lines
