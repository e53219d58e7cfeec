"""pocket_tts: Kyutai's Pocket TTS through its official package; 80 ms frames, a voice is the KV state of its clip."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.protocol import FamilyInfo, Model, ModelSpec, Option, Published
from models.families.pocket_tts.names import LANGUAGES


def create(spec: ModelSpec) -> Model:
    from models.families.pocket_tts.model import PocketModel

    return PocketModel(spec)


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    from models.families.pocket_tts.checkpoint import find

    return find(spec, progress).folder


def estimate(spec: ModelSpec) -> int:
    from models.families.pocket_tts.checkpoint import estimate_bytes

    return estimate_bytes(spec)


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
        "temperature": Option(float, None, "how freely it samples; the checkpoint's own figure (0.3) if left out", 0.0, 2.0),
        "decode_steps": Option(int, 1, "steps from noise to a frame: more is slower and a little cleaner", 1, 32),
        "eos_threshold": Option(float, None, "how sure it must be that the text is over (logit); the checkpoint's own "
                                             "figure (-4) if left out", -20.0, 20.0),
        "noise_clamp": Option(float, None, "largest noise a frame may start from; unlimited if left out", 0.1, 10.0),
        "frames_after_eos": Option(int, None, "frames of 80 ms after the last word; by length of text if left out", 0, 50),
    },
    estimate=estimate,
    clones=True,
    published=tuple(Published("pocket" if name == "english" else f"pocket-{name}", {"checkpoint": name})
                    for name in LANGUAGES),
    requires=("pocket_tts",),
)
