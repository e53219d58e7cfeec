"""What is published: checkpoints, speakers and languages of Qwen3-TTS (its model cards and README)."""
from __future__ import annotations

from dataclasses import dataclass

DEFAULT = "qwen3-tts-0.6b-custom-voice"
FRAMES_A_SECOND = 12.5
ON_CUDA = "bfloat16"  # as the model cards load it

LIBRARIES = 1010 << 20  # bytes that the imported packages themselves hold, torch included


@dataclass(frozen=True)
class Published:
    """repo: on the model hub. talker, codec: parameters of the language model and of the 12 Hz codec, in all."""

    repo: str
    talker: float
    codec: float = 0.17e9


CHECKPOINTS = {
    "qwen3-tts-0.6b-custom-voice": Published("Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice", 0.91e9),
    "qwen3-tts-0.6b-base": Published("Qwen/Qwen3-TTS-12Hz-0.6B-Base", 0.92e9),
    "qwen3-tts-1.7b-custom-voice": Published("Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice", 1.91e9),
    "qwen3-tts-1.7b-voice-design": Published("Qwen/Qwen3-TTS-12Hz-1.7B-VoiceDesign", 1.91e9),
    "qwen3-tts-1.7b-base": Published("Qwen/Qwen3-TTS-12Hz-1.7B-Base", 1.93e9),
}

TAGS = {  # a language's name in a checkpoint's config.json -> BCP 47 primary tag
    "chinese": "zh", "english": "en", "japanese": "ja", "korean": "ko", "german": "de", "french": "fr", "russian": "ru",
    "portuguese": "pt", "spanish": "es", "italian": "it",
}


@dataclass(frozen=True)
class Speaker:
    """A speaker's native language and gender; every speaker speaks all of the model's languages."""

    language: str
    gender: str


SPEAKERS = {
    "vivian": Speaker("zh", "f"), "serena": Speaker("zh", "f"), "uncle_fu": Speaker("zh", "m"),
    "dylan": Speaker("zh", "m"), "eric": Speaker("zh", "m"), "ryan": Speaker("en", "m"), "aiden": Speaker("en", "m"),
    "ono_anna": Speaker("ja", "f"), "sohee": Speaker("ko", "f"),
}
