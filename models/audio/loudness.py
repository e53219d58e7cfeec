"""Loudness made equal, and noise measured."""
from __future__ import annotations

import numpy as np

LUFS = -23.0  # EBU R 128
PEAK = 0.89  # -1 dBFS
FRAME = 0.025  # seconds
QUIET_SHARE = 0.1  # of frames, the quietest: between words there is nothing but the room
CLEAN = 60.0  # dB; beyond it there is nothing to hear


def normalise(samples: np.ndarray, rate: int) -> np.ndarray:
    """float32 mono at -23 LUFS (ITU-R BS.1770 integrated loudness), lower where its peaks would go beyond -1 dBFS."""
    import pyloudnorm

    shortest = round(0.4 * rate) + 1  # one gating block
    measured = pyloudnorm.Meter(rate).integrated_loudness(np.pad(samples, (0, max(0, shortest - len(samples)))))
    if not np.isfinite(measured):
        return samples
    gain = min(10 ** ((LUFS - measured) / 20), PEAK / max(1e-9, float(np.abs(samples).max())))
    return (samples * gain).astype(np.float32)


def signal_to_noise(samples: np.ndarray, rate: int, speech: list[tuple[float, float]]) -> float:
    """dB between the speech and the quietest tenth of the recording, at most 60. speech: (start, end) in seconds."""
    size = max(1, round(FRAME * rate))
    frames = samples[:len(samples) // size * size].reshape(-1, size).astype(np.float64)
    powers = np.square(frames - frames.mean(1, keepdims=True)).mean(1)
    times = (np.arange(len(powers)) + 0.5) * size / rate
    spoken = np.zeros(len(powers), bool)
    for start, end in speech:
        spoken |= (times >= start) & (times < end)
    if not spoken.any():
        return 0.0
    quiet = np.sort(powers)[:max(1, round(QUIET_SHARE * len(powers)))].mean()
    loud = max(powers[spoken].mean() - quiet, 1e-15)
    return float(np.clip(10 * np.log10(loud / max(quiet, 1e-15)), -10.0, CLEAN))
