"""The registry: a family is one room below this folder and one line here."""
from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path

from models.errors import SpeechError
from models.families.protocol import FamilyInfo, Model, ModelSpec

REGISTRY = {
    "kokoro": "models.families.kokoro",
    "pocket_tts": "models.families.pocket_tts",
    "qwen3_tts": "models.families.qwen3_tts",
    "supertonic": "models.families.supertonic",
    "vits": "models.families.vits",
    "voxcpm": "models.families.voxcpm",
}


def family(name: str) -> FamilyInfo:
    """The family's declaration; importing it is cheap. Raises KeyError for a name not in REGISTRY."""
    return importlib.import_module(REGISTRY[name]).FAMILY


def create(spec: ModelSpec) -> Model:
    """An unloaded model. Raises SpeechError("package_missing")."""
    _must_have_packages(spec)
    return family(spec.family).create(spec)


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    """The spec's weights on this machine. Raises SpeechError: package_missing, weights_missing, weights_broken."""
    _must_have_packages(spec)
    return family(spec.family).fetch(spec, progress)


def _must_have_packages(spec: ModelSpec) -> None:
    missing = [name for name in family(spec.family).requires if importlib.util.find_spec(name) is None]
    if missing:
        raise SpeechError("package_missing", "family", model=spec.id, package=missing, family=spec.family)
