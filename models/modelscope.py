"""Files from ModelScope, by its own client: an optional package, installed when the mirror is asked for."""
from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from models.errors import SpeechError, first_line
from models.huggingface import Meter, NoBar
from models.weights import home

OWNERS = {"openbmb": "OpenBMB"}  # who has another name there than on the model hub
PATIENCE = {"MODELSCOPE_API_CONNECT_TIMEOUT": "5", "MODELSCOPE_API_TIMEOUT": "10", "MODELSCOPE_API_MAX_RETRIES": "1",
            "MODELSCOPE_REPO_TREE_PAGE_TIMEOUT_SECONDS": "10", "MODELSCOPE_DOWNLOAD_TIMEOUT": "20"}  # seconds, attempts
ADVICE = ("connect this machine to ModelScope and start again (what is here already is kept), unset READYVOICE_MIRROR to "
          "ask the model hub, or give a folder as `path` in config.toml")


def download(repo: str, patterns: Sequence[str], target: Path, model: str, progress: Callable[[str], None]) -> None:
    """Those files of `repo` that match `patterns` into `target`, resumed where an earlier download broke off.

    Raises SpeechError("weights_missing").
    """
    client = _client(model)
    from modelscope_hub.errors import AuthenticationError, HubError, NotExistError, PermissionDeniedError

    owner, _, name = repo.partition("/")
    there = f"{OWNERS.get(owner, owner)}/{name}"
    try:
        files = [file for file in client.list_repo_files(there, "model")
                 if not file.is_dir and any(fnmatch(file.path, pattern) for pattern in patterns)]
        if not files:
            raise SpeechError("weights_missing", model=model, reason=f"{there} on ModelScope has none of its files",
                              advice=ADVICE)
        callback = _callback(Meter(sum(file.size or 0 for file in files), progress))
        for file in files:
            client.downloader.download_file(there, "model", file.path, local_dir=target, file_size=file.size or None,
                                            expected_sha256=file.sha256 or None, progress_callbacks=[callback])
    except (AuthenticationError, PermissionDeniedError) as error:
        raise SpeechError("weights_missing", model=model, reason=f"{there} on ModelScope asks for a login",
                          advice="set MODELSCOPE_API_TOKEN to a token of somebody who may read it") from error
    except NotExistError as error:
        raise SpeechError("weights_missing", model=model, reason=f"ModelScope has no repository {there}",
                          advice="fetch it from the model hub, without the mirror") from error
    except (HubError, OSError) as error:
        reason = first_line(error)
        raise SpeechError("weights_missing", model=model, reason=f"ModelScope does not answer: {reason}",
                          advice=ADVICE) from error


def _client(model: str):
    for name, value in PATIENCE.items():  # read when the package is imported
        os.environ.setdefault(name, value)
    try:
        from modelscope_hub import HubApi, HubConfig, _download
    except ImportError as error:
        raise SpeechError("weights_missing", model=model, reason=f"ModelScope's client is not installed: {error}",
                          advice="start again with READYVOICE_MIRROR=modelscope bash start.sh, which installs it") from error
    logging.getLogger("modelscope_hub").setLevel(logging.CRITICAL)  # what goes wrong is said once, in our words
    _download.tqdm = NoBar  # the one bar it draws whatever callbacks it is given
    return HubApi(HubConfig(cache_dir=home() / "modelscope"))


def _callback(meter: Meter) -> type:
    """A class of the client's callbacks, of which it makes one object a file."""
    from modelscope_hub import ProgressCallback

    class Callback(ProgressCallback):
        def update(self, size: int) -> None:
            meter.add(size)

    return Callback
