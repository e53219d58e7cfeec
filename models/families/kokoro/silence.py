"""The silence around a segment: the network leaves a quarter to half a second each side, whatever comes next."""
from __future__ import annotations

import numpy as np

WINDOW = 0.005  # seconds over which loudness is judged
QUIET = 0.004  # of the loudest window, about -48 dB
FLOOR = 0.0008  # RMS below which anything is silence
LEAD = 0.03  # seconds kept before the first sound
FADE = 0.004
# seconds of silence after the last sound, by what stands at the segment's end
PAUSES = {"paragraph": 0.6, "sentence": 0.36, "clause": 0.16, "word": 0.03}


def sounding(samples: np.ndarray, sample_rate: int) -> tuple[int, int]:
    """Where the sound begins and ends, in samples; (0, 0) for silence alone."""
    window = max(1, round(WINDOW * sample_rate))
    count = -(-len(samples) // window)
    padded = np.zeros(count * window, np.float32)
    padded[: len(samples)] = samples
    loudness = np.sqrt(np.square(padded.reshape(count, window)).mean(axis=1))
    heard = np.flatnonzero(loudness > max(FLOOR, QUIET * loudness.max(initial=0.0)))
    if not len(heard):
        return 0, 0
    return int(heard[0]) * window, min(len(samples), (int(heard[-1]) + 1) * window)


def framed(samples: np.ndarray, sample_rate: int, ends: str, speed: float = 1.0) -> np.ndarray:
    """The sound with a short lead and the pause its end asks for; empty if there is no sound.

    What was left of the network's own silence is kept up to the pause's length, then made up with zeros.
    """
    begin, end = sounding(samples, sample_rate)
    if begin == end:
        return np.zeros(0, np.float32)
    pause = round(PAUSES[ends] / speed * sample_rate)
    lead = max(0, begin - round(LEAD * sample_rate))
    kept = samples[lead: end + pause].astype(np.float32)
    fade = min(round(FADE * sample_rate), len(kept))
    ramp = np.linspace(0, 1, fade, dtype=np.float32)
    if lead:
        kept[:fade] *= ramp
    kept[-fade:] *= ramp[::-1]
    return np.concatenate([kept, np.zeros(end + pause - lead - len(kept), np.float32)])
