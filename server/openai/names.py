"""The names that OpenAI's clients know, as ours."""
from __future__ import annotations

from models.pool import Pool

SPEECH_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")  # the default model
HEARING_MODELS = ("whisper-1", "whisper-base", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")  # Whisper base
VOICES = ("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer",
          "verse")  # the default voice of the text's language, with a model that has no voice of that name


def speech_model(name: str, pool: Pool) -> str:
    """A session's id, "auto", or "" for the default model; what is unknown stays as it is, for the pool to refuse."""
    return "" if name in SPEECH_MODELS and name not in pool.sessions else name


def speech_voice(name: str, known: set[str]) -> str:
    """A voice of the model's, or "" for its default; what is unknown stays as it is, for the model to refuse."""
    return "" if name in VOICES and name not in known else name
