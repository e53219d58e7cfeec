"""Formats written while the sound is being made."""
from __future__ import annotations

import io

import av
import numpy as np
import pytest

from models.audio.decode import decode
from models.audio.encode import to_pcm16
from models.audio.streaming import FORMATS, PCM_RATE

FILES = [name for name in FORMATS if name != "pcm"]
RATES = {"opus": {22_050: 24_000, 44_100: 48_000}}  # what a codec doesn't have goes to the next it has
NOTE = "Synthetic speech: no person said this."


def tone(rate: int, seconds: float = 1.5) -> np.ndarray:
    """A tone whose pitch rises, so that a shift in time would show."""
    time = np.arange(round(rate * seconds)) / rate
    return (0.4 * np.sin(2 * np.pi * (300 + 200 * time) * time)).astype(np.float32)


def written(form: str, rate: int, samples: np.ndarray, step: int) -> tuple[list[bytes], int]:
    encoder = FORMATS[form].create(rate, NOTE)
    pieces = [encoder.feed(samples[start:start + step]) for start in range(0, len(samples), step)]
    return [*pieces, encoder.finish()], encoder.rate


def likeness(first: np.ndarray, second: np.ndarray) -> float:
    """The best correlation over shifts of up to 0.1 s at 16 kHz: codecs begin with a little silence."""
    size = min(len(first), len(second)) - 3200
    middle = first[1600:1600 + size]
    return max(float(np.corrcoef(middle, second[1600 + shift:1600 + shift + size])[0, 1]) for shift in range(-1600, 1600, 1))


@pytest.mark.parametrize("rate", [22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("form", FILES)
def test_every_format_is_the_sound_that_was_fed(form, rate):
    pieces, coded = written(form, rate, tone(rate), rate // 7)
    assert coded == RATES.get(form, {}).get(rate, rate)
    read = decode(b"".join(pieces))
    assert not read.broken and read.channels == 1 and read.seconds == pytest.approx(1.5, abs=0.12)
    import soxr
    assert likeness(*(soxr.resample(sound, at, 16_000) for sound, at in
                      ((tone(rate), rate), (read.samples, read.sample_rate)))) > 0.99


@pytest.mark.parametrize("form", FORMATS)
def test_the_first_half_second_can_be_heard_at_once(form):
    encoder = FORMATS[form].create(24_000, NOTE)
    start = encoder.feed(tone(24_000, 0.5))
    if form == "pcm":
        assert len(start) == 24_000
    else:
        with av.open(io.BytesIO(start), format={"opus": "ogg"}.get(form, form)) as file:
            heard = sum(frame.samples / frame.sample_rate for frame in file.decode(audio=0))
        assert heard >= 0.25


@pytest.mark.parametrize("form", FILES)
def test_the_file_says_that_it_is_synthetic(form):
    pieces, _ = written(form, 24_000, tone(24_000, 0.3), 24_000)
    with av.open(io.BytesIO(b"".join(pieces))) as file:
        assert NOTE in {**file.metadata, **file.streams.audio[0].metadata}.values()


@pytest.mark.parametrize("form", ["wav", "flac"])
def test_lossless_formats_lose_nothing(form):
    samples = (np.random.default_rng(1).integers(-30_000, 30_000, 5000) / 32768).astype(np.float32)
    pieces, _ = written(form, 24_000, samples, 777)
    scale = 32767 / 32768 if form == "wav" else 1.0
    assert np.abs(decode(b"".join(pieces)).samples - samples * scale).max() <= 0.5001 / 32768


def test_headerless_samples_come_at_one_rate():
    pieces, rate = written("pcm", 48_000, tone(48_000), 5000)
    assert rate == PCM_RATE and len(b"".join(pieces)) == 2 * round(1.5 * PCM_RATE)
    pieces, _ = written("pcm", PCM_RATE, tone(PCM_RATE), 5000)
    assert b"".join(pieces) == to_pcm16(tone(PCM_RATE))


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_too_loud_is_clipped_and_nothing_at_all_is_no_error(form):
    loud, _ = written(form, 24_000, tone(24_000, 0.3) * 10, 1000)
    assert sum(map(len, loud)) > 1000
    empty, _ = written(form, 24_000, np.zeros(0, np.float32), 1)
    assert len(b"".join(empty)) < 10_000
