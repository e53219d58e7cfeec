from __future__ import annotations

import numpy as np
import pytest

from models.families.kokoro import silence

RATE = 24_000


def tone(before: float, sound: float, behind: float) -> np.ndarray:
    seconds = np.arange(round(sound * RATE)) / RATE
    wave = 0.3 * np.sin(2 * np.pi * 220 * seconds)
    return np.concatenate([np.zeros(round(before * RATE)), wave, np.zeros(round(behind * RATE))]).astype(np.float32)


@pytest.mark.parametrize("ends", silence.PAUSES)
@pytest.mark.parametrize("behind", [0.0, 0.1, 1.0])
def test_the_pause_is_what_the_end_asks_for(ends, behind):
    framed = silence.framed(tone(0.4, 1.0, behind), RATE, ends)
    wanted = silence.LEAD + 1.0 + silence.PAUSES[ends]
    assert len(framed) / RATE == pytest.approx(wanted, abs=2 * silence.WINDOW)


def test_pauses_follow_the_speed():
    slow, fast = (len(silence.framed(tone(0.2, 1, 0.2), RATE, "paragraph", speed)) for speed in (1.0, 2.0))
    assert (slow - fast) / RATE == pytest.approx(silence.PAUSES["paragraph"] / 2, abs=0.001)


def test_what_is_kept_is_untouched_and_ends_softly():
    whole = tone(0.4, 1.0, 0.5)
    framed = silence.framed(whole, RATE, "sentence")
    middle = framed[RATE // 2: RATE // 2 + 1000]
    start = round((0.4 - silence.LEAD) * RATE)
    assert np.abs(whole[start + RATE // 2: start + RATE // 2 + 1000] - middle).max() < 0.3
    assert abs(framed[0]) < 1e-3 and abs(framed[-1]) < 1e-3
    assert np.abs(np.diff(framed)).max() <= np.abs(np.diff(whole)).max() + 1e-6


@pytest.mark.parametrize("length, level", [(0, 0.0), (5000, 0.0), (5000, 1e-5)])
def test_silence_alone_is_nothing(length, level):
    assert len(silence.framed(np.full(length, level, np.float32), RATE, "sentence")) == 0
