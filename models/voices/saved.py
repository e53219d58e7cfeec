"""Saved voices as kokoro speaks in them: `my:ID` names one wherever a voice id may stand.

Whether the asker may use a voice is for the edge to check (`Library.get` with its owner) before a request is made of it.
"""
from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from models.errors import SpeechError
from models.families.protocol import Voice
from models.voices.library import Library
from models.weights import home

if TYPE_CHECKING:
    from torch import Tensor

PREFIX = "my:"
SHAPE = (510, 256)  # a kokoro voice: a row per number of phonemes
LOUDEST = 20.0  # no stock voice has a number beyond 3; a file from anywhere might


def about(name: str, model: str) -> Voice:
    """The voice of `my:ID`. Raises SpeechError: saved_voice_unknown, or saved_voice_unfitted without a state to speak with."""
    library = _library(home() / "voices")
    voice = library.get(name.removeprefix(PREFIX), None)
    if not (library.folder / voice.id / "states" / "kokoro.safetensors").is_file():
        raise SpeechError("saved_voice_unfitted", "voice", name=voice.name, model=model)
    return Voice(name, voice.name, voice.language or "en-us")


def style(name: str, model: str) -> Tensor:
    """float32 [510, 256]. Raises as `about`; a state of another form counts as none."""
    library = _library(home() / "voices")
    voice = library.get(name.removeprefix(PREFIX), None)
    table = (library.state(voice.id, None, "kokoro") or {}).get("style")
    if table is None or tuple(table.shape) != SHAPE or not bool((table.abs() < LOUDEST).all()):
        raise SpeechError("saved_voice_unfitted", "voice", name=voice.name, model=model)
    return table.float()


@lru_cache(maxsize=8)
def _library(folder: Path) -> Library:
    return Library(folder)
