"""Samples at another rate."""
from __future__ import annotations

import numpy as np


def resample(samples: np.ndarray, rate: int, to: int) -> np.ndarray:
    """float32 mono from `rate` to `to` Hz, by soxr's high-quality filter."""
    if rate == to or not len(samples):
        return np.asarray(samples, np.float32)
    import soxr

    return soxr.resample(np.asarray(samples, np.float32), rate, to)
