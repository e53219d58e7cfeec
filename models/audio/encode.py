"""Samples to bytes."""
from __future__ import annotations

import io
import wave

import numpy as np


def to_pcm16(samples: np.ndarray) -> bytes:
    """float32 mono in [-1, 1] to signed 16-bit little-endian; what lies outside is clipped, not wrapped."""
    return (np.clip(samples, -1.0, 1.0) * 32767.0).round().astype("<i2").tobytes()


def to_wav(samples: np.ndarray, sample_rate: int) -> bytes:
    """float32 mono samples as a 16-bit WAV file."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(to_pcm16(samples))
    return buffer.getvalue()
