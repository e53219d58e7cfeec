"""Saved voices as models speak in them: `my:ID` names one wherever a voice id may stand.

kokoro speaks in what was fitted for it, also in mixes; models that clone are given the clip.

Whether the asker may use a voice is for the edge to check (`Library.get` with its owner) before a request is made of it.
"""
from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from models.errors import SpeechError
from models.families.protocol import Voice
from models.voices.library import Library, place

if TYPE_CHECKING:
    from torch import Tensor

PREFIX = "my:"
NAMED = re.compile(rf"{PREFIX}([\w.-]*)")
FITTED = "kokoro"  # the family that speaks in fitted voices, and the state they are kept as
SHAPE = (510, 256)  # a kokoro voice: a row per number of phonemes
LOUDEST = 6.0  # no stock voice has a number beyond 3; a file from anywhere might


def named(voice: str) -> list[str]:
    """The ids of the saved voices that a voice or a mix names, each once."""
    return list(dict.fromkeys(NAMED.findall(voice)))


def library() -> Library:
    """The one of this machine."""
    return _library(place())


def about(name: str, model: str) -> Voice:
    """The voice of `my:ID`. Raises SpeechError: saved_voice_unknown, or saved_voice_unfitted without a state to speak with."""
    kept = library()
    voice = kept.get(name.removeprefix(PREFIX), None)
    if not (kept.folder / voice.id / "states" / f"{FITTED}.safetensors").is_file():
        raise SpeechError("saved_voice_unfitted", "voice", name=voice.name, model=model)
    return Voice(name, voice.name, voice.language or "en-us")


def style(name: str, model: str) -> Tensor:
    """float32 [510, 256]. Raises as `about`; a state of another form counts as none."""
    kept = library()
    voice = kept.get(name.removeprefix(PREFIX), None)
    table = (kept.state(voice.id, None, FITTED) or {}).get("style")
    if table is None or tuple(table.shape) != SHAPE or not bool((table.abs() < LOUDEST).all()):
        raise SpeechError("saved_voice_unfitted", "voice", name=voice.name, model=model)
    return table.float()


@lru_cache(maxsize=8)
def _library(folder: Path) -> Library:
    return Library(folder)
