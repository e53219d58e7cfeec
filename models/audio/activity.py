"""Where somebody speaks in a recording, by Silero's voice activity model (faster-whisper carries and runs it)."""
from __future__ import annotations

import numpy as np

from models.audio.resample import resample

RATE = 16_000
SHORTEST, GAP, MARGIN = 150, 150, 60  # ms: of speech, of silence that parts two phrases, kept around each


def phrases(samples: np.ndarray, rate: int) -> list[tuple[float, float]]:
    """(start, end) in seconds of each stretch of speech, in order and apart by pauses. samples: float mono at `rate` Hz.

    The level is evened out first, so that a whisper into a far microphone counts as well.
    """
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    loudest = float(np.abs(samples).max(initial=0.0))
    if not loudest:
        return []
    heard = resample(samples / loudest * 0.7, rate, RATE)
    options = VadOptions(min_speech_duration_ms=SHORTEST, min_silence_duration_ms=GAP, speech_pad_ms=MARGIN)
    return [(found["start"] / RATE, min(found["end"], len(heard)) / RATE) for found in get_speech_timestamps(heard, options)]
