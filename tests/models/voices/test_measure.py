from __future__ import annotations

import numpy as np
import pytest

from models.audio.resample import resample
from models.voices.measure import pitch_curve, traits
from tests.recordings import tone


def buzz(pitch: np.ndarray, rate: int = 16_000) -> np.ndarray:
    """A glottal-like pulse train at a pitch in Hz per sample."""
    phase = np.cumsum(pitch) / rate
    return sum(np.sin(2 * np.pi * number * phase) / number for number in range(1, 12)).astype(np.float32) * 0.2


@pytest.mark.parametrize("hertz", [70.0, 95.5, 130.0, 210.3, 320.0, 430.0])
def test_a_steady_pitch(hertz):
    found = traits(buzz(np.full(32_000, hertz)), 16_000)
    assert found.pitch == pytest.approx(hertz, rel=0.005) and found.spread < 0.1


def test_a_moving_pitch():
    semitones = 3 * np.sin(2 * np.pi * 0.7 * np.arange(64_000) / 16_000)
    found = traits(buzz(150 * 2 ** (semitones / 12)), 16_000)
    assert found.pitch == pytest.approx(150, rel=0.03) and found.spread == pytest.approx(3 / np.sqrt(2), rel=0.1)


def test_noise_and_silence_have_no_pitch():
    noise = np.random.default_rng(0).normal(size=32_000).astype(np.float32)
    assert (pitch_curve(noise) > 0).mean() < 0.05
    assert not pitch_curve(np.zeros(32_000, np.float32)).any() and np.isnan(traits(np.zeros(32_000, np.float32), 16_000).pitch)
    assert len(pitch_curve(np.zeros(10, np.float32))) == 0


def test_the_piper_voice_is_a_man_and_moves_with_its_rate(speech):
    samples, rate = speech
    found = traits(samples, rate)
    assert 80 < found.pitch < 160 and 1 < found.spread < 6
    higher = traits(resample(samples, rate, round(rate / 1.25)), rate)
    assert higher.semitones_from(found) == pytest.approx(12 * np.log2(1.25), abs=1.0)


def test_the_spectrum_tells_colour_and_not_loudness(speech):
    samples, rate = speech
    found = traits(samples, rate)
    assert found.decibels_from(traits(samples * 0.1, rate)) < 0.01
    dull = np.convolve(samples, np.ones(8) / 8, "same").astype(np.float32)
    apart = traits(dull, rate).decibels_from(found)
    assert apart > 4.5
    half = len(samples) // 2
    assert traits(samples[:half], rate).decibels_from(traits(samples[half:], rate)) < apart - 1


def test_a_tone_of_one_pitch_is_found_in_a_file_of_any_rate():
    assert traits(tone(1, 44_100, 200), 44_100).pitch == pytest.approx(200, rel=0.005)
