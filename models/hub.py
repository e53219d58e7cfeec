"""Files of published checkpoints: fetched once into home()/ROOM, whole or not at all, resumed where a download broke off.

READYVOICE_MIRROR=modelscope takes them from ModelScope, HF_ENDPOINT from another host that speaks as the model hub does.
"""
from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from models import huggingface, modelscope
from models.errors import SpeechError
from models.weights import home, is_offline

MIRROR = "READYVOICE_MIRROR"
MIRRORS = ("modelscope",)
HubRefused = huggingface.HubRefused


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
        raise SpeechError("weights_missing", model=model, reason="the network was not asked", advice=huggingface.ADVICE)
    if mirror_of():
        progress(f"fetching {repo} from ModelScope")
        modelscope.download(repo, patterns, target, model, progress)
    else:
        progress(f"fetching {repo} from the model hub")
        huggingface.download(repo, revision, patterns, target, model, progress)
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
