"""qwen3_tts: Qwen3-TTS 12 Hz (base, custom-voice, voice-design) by the official package, streamed frame by frame."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.controls import NORMALISE
from models.families.protocol import TORCH, FamilyInfo, Model, ModelSpec, Option, Published
from models.families.qwen3_tts.names import CHECKPOINTS, DEFAULT, LIBRARIES


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
    libraries={"torch": TORCH, "qwen3_tts": LIBRARIES - TORCH},
    clones=True,
    controls={
        "instruction": Option(str, "", {
            "en": "how to speak (custom-voice 1.7B) or what the voice is like (voice-design), in words: an old man, calm "
                  "and slow",
            "zh": "怎样说话（custom-voice 1.7B）或声音是什么样的（voice-design），例如：老年男性，平静缓慢",
        }, label={"en": "Instruction", "zh": "指令"}),
        "temperature": Option(float, 0.9, {
            "en": "how freely it samples; 0 always takes the likeliest", "zh": "采样的自由程度；0 总取最可能的",
        }, 0.0, 2.0, label={"en": "Temperature", "zh": "温度"}),
        "top_k": Option(int, 50, {
            "en": "sample among so many likeliest codes; 0 among all", "zh": "在最可能的若干个编码中采样；0 表示全部",
        }, 0, 1000, label={"en": "Top k", "zh": "Top k"}),
        "top_p": Option(float, 1.0, {
            "en": "sample among the likeliest codes that make up this share", "zh": "在累计达到该比例的最可能编码中采样",
        }, 0.01, 1.0, label={"en": "Top p", "zh": "Top p"}),
        "repetition_penalty": Option(float, 1.05, {
            "en": "above 1 makes codes already used less likely", "zh": "大于 1 时，用过的编码更不易再出现",
        }, 1.0, 2.0, label={"en": "Repetition penalty", "zh": "重复惩罚"}),
        "timbre_only": Option(bool, False, {
            "en": "clone the clip's timbre alone, without its manner; needs no transcript", "zh": "只克隆音色，不取说话方式；不需要文字稿",
        }, label={"en": "Timbre only", "zh": "只取音色"}),
        "max_seconds": Option(float, 600.0, {
            "en": "speech ends there at the latest, in seconds", "zh": "语音最长的秒数",
        }, 1.0, 3600.0, label={"en": "Longest speech", "zh": "最长时间"}),
        "normalise": NORMALISE,
    },
    published=tuple(Published(name, {"checkpoint": name}, known.talker * 2 + known.codec * 4)
                    for name, known in CHECKPOINTS.items()),
    requires=("qwen_tts", "transformers", "torchaudio"),
)
