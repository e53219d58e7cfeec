"""The registry: a family is one room below this folder and one line here."""
from __future__ import annotations

import importlib

from models.families.protocol import FamilyInfo

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
