"""qwen3_tts: Qwen3-TTS 12 Hz (base, custom-voice, voice-design) by the official package, streamed frame by frame."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.protocol import FamilyInfo, Model, ModelSpec, Option, Published
from models.families.qwen3_tts.names import CHECKPOINTS, DEFAULT


def create(spec: ModelSpec) -> Model:
    from models.families.qwen3_tts.model import QwenModel

    return QwenModel(spec)


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    from models.families.qwen3_tts.checkpoint import fetch

    return fetch(spec, progress)


def estimate(spec: ModelSpec) -> int:
    from models.families.qwen3_tts.checkpoint import estimate_bytes

    return estimate_bytes(spec)


FAMILY = FamilyInfo(
    name="qwen3_tts",
    title="Qwen3-TTS",
    licence="Apache-2.0 (package and weights, Alibaba Qwen)",
    options={
        "checkpoint": Option(str, DEFAULT, "which published checkpoint to load when no path is given",
                             choices=tuple(CHECKPOINTS)),
        "voice_prompt_cache_slots": Option(int, 1, "reference clips kept encoded, about 5 MB each", 0, 1000),
        "first_chunk_frames": Option(int, 2, "frames of 80 ms in the first chunk of sound", 1, 25),
        "chunk_frames": Option(int, 8, "frames of 80 ms in a chunk once the listener is ahead", 1, 250),
        "mem_saver": Option(bool, False, "give the GPU's working memory back after each segment, at the cost of speed"),
    },
    create=create,
    fetch=fetch,
    estimate=estimate,
    clones=True,
    controls={
        "instruction": Option(str, "", "how to speak (custom-voice 1.7B) or what the voice is like (voice-design), in "
                                       "words: an old man, calm and slow"),
        "temperature": Option(float, 0.9, "how freely it samples; 0 always takes the likeliest", 0.0, 2.0),
        "top_k": Option(int, 50, "sample among so many likeliest codes; 0 among all", 0, 1000),
        "top_p": Option(float, 1.0, "sample among the likeliest codes that make up this share", 0.01, 1.0),
        "repetition_penalty": Option(float, 1.05, "above 1 makes codes already used less likely", 1.0, 2.0),
        "timbre_only": Option(bool, False, "clone the clip's timbre alone, without its manner; needs no transcript"),
        "max_seconds": Option(float, 600.0, "speech ends there at the latest, in seconds", 1.0, 3600.0),
        "normalise": Option(bool, True, "read digits, dates, units and the like as words"),
    },
    published=tuple(Published(name, {"checkpoint": name}, known.talker * 2 + known.codec * 4)
                    for name, known in CHECKPOINTS.items()),
    requires=("qwen_tts", "transformers", "torchaudio"),
)
