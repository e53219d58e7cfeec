"""kokoro: Kokoro-82M on our own torch network; 54 voices in eight languages, mixes of them, 24 kHz."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.protocol import FamilyInfo, Model, ModelSpec, Option, Published

READING = 360 << 20  # bytes: text front ends of eight languages, spaCy's English model the largest
LIBRARIES = {"kokoro": READING}


def create(spec: ModelSpec) -> Model:
    from models.families.kokoro.model import KokoroModel

    return KokoroModel(spec)


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    from models.families.kokoro import weights
    from models.families.kokoro.native import build

    path = weights.fetch(spec.path, progress)
    if not spec.device.startswith("cuda"):
        build.library(progress)
    return path


def estimate(spec: ModelSpec) -> int:
    from models.families.kokoro.weights import estimate_bytes

    return estimate_bytes(spec) + sum(LIBRARIES.values())


FAMILY = FamilyInfo(
    name="kokoro",
    title="Kokoro 82M",
    licence="weights and voices Apache-2.0 (hexgrad/Kokoro-82M)",
    options={
        "style_cache_slots": Option(int, 16, "voice styles and mixes kept ready, 0.5 MB each", 0, 4096),
        "mem_saver": Option(bool, False, "give the working memory back after each segment, at the cost of speed"),
    },
    create=create,
    fetch=fetch,
    estimate=estimate,
    libraries=LIBRARIES,
    published=(Published("kokoro", size=130e6),),
)
