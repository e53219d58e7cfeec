"""The pitch of a voice where a segment ends: does a cut sound like the end of a sentence?"""
from __future__ import annotations

import numpy as np

FLOOR, CEILING = 60.0, 500.0  # Hz in which a voice is looked for
NEAR = 0.62, 1.75  # of a voice's middle: what lies outside at a joint is an octave misheard
STEP = 0.005
LAST = 0.15  # seconds of voiced sound before a joint whose pitch counts


def track(samples: np.ndarray, sample_rate: int, floor: float = FLOOR, ceiling: float = CEILING) -> tuple[np.ndarray, np.ndarray]:
    """Times in seconds and pitch in Hz of the voiced frames (Praat's autocorrelation method, Boersma 1993)."""
    import parselmouth

    sound = parselmouth.Sound(samples.astype(np.float64), sample_rate)
    pitch = sound.to_pitch_ac(time_step=STEP, pitch_floor=floor, pitch_ceiling=ceiling)
    hertz = pitch.selected_array["frequency"]
    voiced = hertz > 0
    return pitch.xs()[voiced], hertz[voiced]


def final(samples: np.ndarray, sample_rate: int, base: float, end: float | None = None) -> float:
    """Semitones over `base` (Hz) of the last voiced sound before `end` seconds; None: of all."""
    times, hertz = track(samples, sample_rate, NEAR[0] * base, NEAR[1] * base)
    hertz = hertz[times <= end] if end is not None else hertz
    last = hertz[-round(LAST / STEP):]
    return float(12 * np.log2(np.median(last) / base))


def around(samples: np.ndarray, sample_rate: int, base: float, at: float) -> tuple[float, float]:
    """Semitones over `base` (Hz) of the last voiced sound before `at` seconds and of the first behind it; nan where there
    is none within three times as long."""
    times, hertz = track(samples, sample_rate, NEAR[0] * base, NEAR[1] * base)
    count = round(LAST / STEP)
    before = hertz[(times <= at) & (times > at - 3 * LAST)][-count:]
    behind = hertz[(times > at) & (times <= at + 3 * LAST)][:count]
    return tuple(float(12 * np.log2(np.median(part) / base)) if len(part) else float("nan") for part in (before, behind))


def middle(samples: np.ndarray, sample_rate: int) -> float:
    """The median pitch in Hz."""
    return float(np.median(track(samples, sample_rate)[1]))
