from __future__ import annotations

import numpy as np
import pytest

from models.audio.stretch import Stretch

RATE = 24000
SPEEDS = (0.5, 0.7, 0.9, 1.1, 1.5, 2.0)


def tone(hertz: float = 200.0, seconds: float = 2.0) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    return (0.3 * np.sin(2 * np.pi * hertz * time) + 0.1 * np.sin(4 * np.pi * hertz * time)).astype(np.float32)


def run(samples: np.ndarray, speed: float, size: int) -> np.ndarray:
    stretch = Stretch(speed, RATE)
    pieces = [stretch.feed(samples[start:start + size]) for start in range(0, len(samples), size)]
    return np.concatenate([*pieces, stretch.flush()])


@pytest.mark.parametrize("speed", SPEEDS)
def test_length_follows_speed_and_pitch_stays(speed):
    samples = tone()
    out = run(samples, speed, 1920)
    assert len(out) == round(len(samples) / speed)
    spectrum = np.abs(np.fft.rfft(out * np.hanning(len(out))))
    assert abs(spectrum.argmax() * RATE / len(out) - 200) < 2
    assert np.abs(np.diff(out)).max() < 1.1 * np.abs(np.diff(samples)).max()  # no click at any join
    assert 0.9 < np.abs(out[2000:-2000]).max() / np.abs(samples).max() < 1.1


@pytest.mark.parametrize("speed", SPEEDS)
def test_chunk_size_makes_no_difference(speed):
    samples = np.random.default_rng(0).standard_normal(20_000).astype(np.float32)
    whole = run(samples, speed, len(samples))
    for size in (7000, 1920, 100):
        assert np.array_equal(whole, run(samples, speed, size))


def test_own_pace_hands_samples_through():
    samples = tone()
    assert np.array_equal(run(samples, 1.0, 777), samples)


@pytest.mark.parametrize("count", [0, 1, 100, 479, 480, 961])
def test_scraps_come_out_whole(count):
    assert len(run(np.ones(count, np.float32), 1.3, 200)) == round(count / 1.3)


def test_sound_leaves_before_all_has_come():
    assert len(Stretch(1.25, RATE).feed(tone(seconds=0.16))) > 0


def test_out_of_range():
    for speed in (0.4, 2.1):
        with pytest.raises(ValueError):
            Stretch(speed, RATE)
