"""A reference clip made ready for the encoder."""
from __future__ import annotations

import numpy as np

from models.errors import SpeechError
from models.voices.clip import Clip

SHORTEST = 0.5  # seconds in which a voice can be heard at all
SILENT = 1e-3  # root mean square (-60 dBFS) of the loudest tenth of a second, below which nobody speaks
CUT_SEARCH = 3.0  # seconds before the limit in which a pause to cut at is looked for


def check(clip: Clip) -> None:
    """Raises SpeechError("clip_too_short" or "clip_silent"): faults that would else be heard, or be a crash."""
    if clip.seconds < SHORTEST:
        raise SpeechError("clip_too_short", "clip", seconds=f"{clip.seconds:.2f}", least=f"{SHORTEST:g}")
    samples = np.asarray(clip.samples, np.float32)
    if not np.isfinite(samples).all() or loudness(samples, clip.sample_rate // 10).max() < SILENT:
        raise SpeechError("clip_silent", "clip")


def loudness(samples: np.ndarray, window: int) -> np.ndarray:
    """Root mean square of each whole window."""
    count = len(samples) // window
    return np.sqrt(np.square(samples[:count * window].reshape(count, window)).mean(1))


def heard(clip: Clip, longest: float) -> np.ndarray:
    """The clip's samples, at most `longest` seconds: cut at the quietest place near the limit, not in a word."""
    limit = round(longest * clip.sample_rate)
    samples = np.asarray(clip.samples, np.float32)
    if len(samples) <= limit:
        return samples
    window = max(1, clip.sample_rate // 50)
    start = limit - min(round(CUT_SEARCH * clip.sample_rate), limit // 2)
    quietest = int(loudness(samples[start:limit], window).argmin())
    return samples[:start + quietest * window + window // 2]
