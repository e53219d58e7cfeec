"""Which reference clips are fit to clone from."""
from __future__ import annotations

import numpy as np

from models.errors import SpeechError
from models.voices.clip import Clip

SHORTEST, LONGEST = 0.5, 60.0  # seconds
QUIETEST = 1e-3  # peak up to which a clip counts as silent, -60 dB


def check(clip: Clip, longest: float, model: str) -> None:
    """Raises SpeechError("clip_too_short", "clip_too_long" or "clip_silent") on the field clip."""
    longest = min(LONGEST, longest)
    if clip.seconds < SHORTEST:
        raise SpeechError("clip_too_short", "clip", seconds=f"{clip.seconds:.2f}", least=f"{SHORTEST:g}")
    if clip.seconds > longest:
        raise SpeechError("clip_too_long", "clip", seconds=f"{clip.seconds:.0f}", model=model, most=f"{longest:.0f}")
    samples = np.asarray(clip.samples, np.float32)
    if not np.isfinite(samples).all() or np.abs(samples).max() <= QUIETEST:
        raise SpeechError("clip_silent", "clip")
