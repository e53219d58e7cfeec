"""Files from the model hub: fetched once into home()/ROOM, whole or not at all, resumed where a download broke off."""
from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from tqdm import tqdm

from models.errors import SpeechError
from models.weights import home

ANSWER_TIMEOUT = 5.0  # seconds the hub has to answer at all
ADVICE = ("connect this machine to the model hub and start again, set HF_ENDPOINT to a mirror, or copy the checkpoint "
          "here and give its folder as `path` in config.toml")


class HubRefused(SpeechError):
    """The hub answers, but not to this reader: terms to accept, or a token to give."""


def hub_folder(repo: str, revision: str | None, patterns: Sequence[str], room: str, model: str,
               progress: Callable[[str], None] = lambda line: None) -> Path:
    """The folder below home()/room with those files of `repo` that match `patterns`, laid out as in the repository.

    Without network when they are here already. Raises SpeechError("weights_missing") within seconds when the hub
    doesn't answer, HubRefused when it wants a login.
    """
    target = home() / room / f"{repo.replace('/', '--')}-{(revision or 'main')[:12]}"
    wanted = hashlib.sha256("\0".join(sorted(patterns)).encode()).hexdigest()[:16]
    marker = target / ".complete" / wanted
    if not marker.is_file():
        progress(f"fetching {repo} from the model hub")
        _download(repo, revision, list(patterns), target, model, progress)
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.write_text("\n".join(patterns), "utf-8")
    return target


def _download(repo: str, revision: str | None, patterns: list[str], target: Path, model: str,
              progress: Callable[[str], None]) -> None:
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError

    endpoint = os.environ.get("HF_ENDPOINT") or None
    try:
        HfApi(endpoint=endpoint).repo_info(repo, revision=revision, timeout=ANSWER_TIMEOUT)
        snapshot_download(repo, revision=revision, allow_patterns=patterns, local_dir=target, endpoint=endpoint,
                          etag_timeout=ANSWER_TIMEOUT, tqdm_class=_lines(progress))
    except GatedRepoError as error:
        raise HubRefused("weights_missing", model=model, reason=f"{repo} asks for a login",
                         advice=f"accept the terms on the page of {repo} and log in with `hf auth login`") from error
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "an error")
        raise SpeechError("weights_missing", model=model, reason=f"the model hub answers {status} for {repo}",
                          advice=ADVICE) from error
    except Exception as error:  # the hub's client lets those of its transport through, whatever that is
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise SpeechError("weights_missing", model=model, reason=f"the model hub does not answer: {reason}",
                          advice=ADVICE) from error


def _lines(progress: Callable[[str], None]) -> type[tqdm]:
    """A progress bar that draws nothing: every 5 % of the bytes it tells `progress`."""

    class Lines(tqdm):
        def __init__(self, *args, name: str = "", **options):
            self._told = 0
            super().__init__(*args, **{**options, "file": io.StringIO(), "disable": False})

        def display(self, *args, **options) -> bool:
            done = int(100 * self.n / self.total) if self.unit == "B" and self.total else 0
            if done >= self._told + 5:
                self._told = done
                progress(f"{done} % of {self.total / 1e6:.0f} MB")
            return True

    return Lines
