"""pocket_tts: Kyutai's Pocket TTS through its official package; 80 ms frames, a voice is the KV state of its clip."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.pocket_tts.names import LANGUAGES
from models.families.protocol import TORCH, FamilyInfo, Model, ModelSpec, Option, Published

LIBRARIES = 280 << 20  # bytes of its packages beside torch


def create(spec: ModelSpec) -> Model:
    from models.families.pocket_tts.model import PocketModel

    return PocketModel(spec)


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    from models.families.pocket_tts.checkpoint import find

    return find(spec, progress).folder


def estimate(spec: ModelSpec) -> int:
    from models.families.pocket_tts.checkpoint import estimate_bytes

    return estimate_bytes(spec) + TORCH + LIBRARIES


FAMILY = FamilyInfo(
    name="pocket_tts",
    title="Pocket TTS",
    licence="package MIT, weights CC-BY-4.0 (Kyutai); each stock voice has the licence of its recording",
    options={
        "checkpoint": Option(str, "english", "a released checkpoint by its name in the package: english, french, "
                                             "german_24l ...; with `path`, the one a folder without config.yaml holds"),
        "language": Option(str, "", "language of a checkpoint of your own, such as en; else taken from its name"),
        "voice_state_cache_slots": Option(int, 4, "voices whose state is kept, 2 to 75 MB each", 0, 1000),
        "reference_seconds": Option(float, 30.0, "seconds of a reference clip that are heard", 1.0, 120.0),
        "quantize": Option(bool, False, "the package's int8 backbone: a quarter of its memory and the fastest frames, "
                                        "on a CPU only; `precision` then does not matter"),
        "mem_saver": Option(bool, False, "give the working memory back after each segment, at the cost of speed"),
    },
    create=create,
    fetch=fetch,
    controls={
        "temperature": Option(float, None, {
            "en": "how freely it samples; the checkpoint's own figure (0.3) if left alone",
            "zh": "采样的自由程度；不设则用模型自带的值（0.3）",
        }, 0.0, 2.0, label={"en": "Temperature", "zh": "温度"}),
        "decode_steps": Option(int, 1, {
            "en": "steps from noise to a frame: more is slower and a little cleaner", "zh": "从噪声到一帧的步数：越多越慢，略微更干净",
        }, 1, 32, label={"en": "Decoding steps", "zh": "解码步数"}),
        "eos_threshold": Option(float, None, {
            "en": "how sure it must be that the text is over (logit); the checkpoint's own figure (-4) if left alone",
            "zh": "判断文字读完所需的把握（logit）；不设则用模型自带的值（-4）",
        }, -20.0, 20.0, label={"en": "End threshold", "zh": "结束阈值"}),
        "noise_clamp": Option(float, None, {
            "en": "largest noise a frame may start from; unlimited if left alone", "zh": "每帧起始噪声的上限；不设则不限",
        }, 0.1, 10.0, label={"en": "Noise limit", "zh": "噪声上限"}),
        "frames_after_eos": Option(int, None, {
            "en": "frames of 80 ms after the last word; by length of text if left alone",
            "zh": "最后一个词之后的帧数（每帧 80 毫秒）；不设则按文字长度决定",
        }, 0, 50, label={"en": "Frames after the end", "zh": "结尾帧数"}),
    },
    estimate=estimate,
    libraries={"torch": TORCH, "pocket_tts": LIBRARIES},
    clones=True,
    published=tuple(Published("pocket" if name == "english" else f"pocket-{name}", {"checkpoint": name})
                    for name in LANGUAGES),
    requires=("pocket_tts",),
)
