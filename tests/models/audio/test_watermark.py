"""The mark is found where it is, also in pieces and after a codec, and nowhere else; words stay as they are."""
from __future__ import annotations

import numpy as np
import pytest

from models.audio.decode import decode
from models.audio.streaming import FORMATS
from models.audio.watermark import CERTAIN, marked, score
from tests.listening import transcribe, word_error_rate
from tests.models.voices.conftest import joe, speech  # noqa: F401


@pytest.fixture(scope="module")
def sound(speech):  # noqa: F811
    samples, rate = speech
    return samples[:rate * 8], rate


def coded(samples: np.ndarray, rate: int, form: str) -> tuple[np.ndarray, int]:
    encoder = FORMATS[form].create(rate, "")
    read = decode(encoder.feed(samples) + encoder.finish())
    return read.samples, read.sample_rate


def test_it_is_found_where_it_is_and_nowhere_else(sound):
    samples, rate = sound
    assert score(samples, rate) < 0.1 < CERTAIN < 0.9 < score(marked(samples, rate), rate)


@pytest.mark.parametrize("seconds", [0.15, 0.5, 2.0])
def test_pieces_are_marked_one_by_one_without_a_step_at_their_joins(sound, seconds):
    samples, rate = sound
    size = round(seconds * rate)
    whole = np.concatenate([marked(samples[at:at + size], rate) for at in range(0, len(samples), size)])
    assert len(whole) == len(samples) and score(whole, rate) > 0.9
    steps, before = (np.abs(np.diff(each)) for each in (whole, samples))
    joins = np.arange(size, len(samples) - 1, size) - 1
    assert np.abs(steps[joins] - before[joins]).max() < 0.01


@pytest.mark.parametrize("form", ["mp3", "opus", "aac", "flac"])
def test_it_survives_a_codec(sound, form):
    samples, rate = sound
    assert score(*coded(marked(samples, rate), rate, form)) > CERTAIN > score(*coded(samples, rate, form))


def test_words_stay_as_they_are(sound):
    samples, rate = sound
    before, after = transcribe(samples, rate, "en"), transcribe(marked(samples, rate), rate, "en")
    assert word_error_rate(before, after) < 0.05


def test_a_piece_too_short_to_carry_it_is_left_alone():
    tick = np.full(100, 0.1, np.float32)
    assert np.array_equal(marked(tick, 24_000), tick) and len(marked(tick[:0], 24_000)) == 0
