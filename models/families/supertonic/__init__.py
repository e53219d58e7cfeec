"""supertonic: Supertone's flow-matching voices through onnxruntime and the official package; sound comes by segment."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.protocol import FamilyInfo, Model, ModelSpec, Option, Published

CHECKPOINTS = ("supertonic-3", "supertonic-2", "supertonic")

LIBRARIES = 104 << 20  # bytes of its packages


def create(spec: ModelSpec) -> Model:
    from models.families.supertonic.model import SupertonicModel

    return SupertonicModel(spec)


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    from models.families.supertonic.checkpoint import find

    return find(spec, progress)


def place(spec: ModelSpec) -> str:
    from models.families.device import onnx_device_of

    return onnx_device_of(spec.device, spec.id)


def estimate(spec: ModelSpec) -> int:
    from models.families.supertonic.checkpoint import estimate_bytes

    return estimate_bytes(spec) + LIBRARIES


FAMILY = FamilyInfo(
    name="supertonic",
    title="Supertonic",
    licence="package MIT; weights OpenRAIL-M (Supertone), which restricts some uses: read it before you publish",
    options={
        "checkpoint": Option(str, "supertonic-3", "a released checkpoint; with `path`, the one the folder holds",
                             choices=CHECKPOINTS),
        "style_cache_slots": Option(int, 4, "voice styles kept ready, about 60 kB each", 0, 10_000),
        "threads": Option(int, 0, "threads of one session; 0 takes the machine's cores, at most 8", 0, 64),
        "mem_saver": Option(bool, False, "give the working memory back after each stage, at the cost of speed"),
    },
    create=create,
    fetch=fetch,
    controls={
        "steps": Option(int, 8, {
            "en": "steps from noise to speech: more is slower and clearer, 5 is fast",
            "zh": "从噪声到语音的步数：越多越慢、越清晰，5 步较快",
        }, 1, 100, label={"en": "Steps", "zh": "步数"}),
        "pause": Option(float, 0.3, {"en": "seconds of silence between two sentences", "zh": "两句之间停顿的秒数"}, 0.0, 5.0,
                        label={"en": "Pause", "zh": "停顿"}),
    },
    estimate=estimate,
    libraries={"supertonic": LIBRARIES},
    place=place,
    published=tuple(Published(name, {"checkpoint": name}, 400e6 if name == "supertonic-3" else None) for name in CHECKPOINTS),
    requires=("supertonic",),
)
