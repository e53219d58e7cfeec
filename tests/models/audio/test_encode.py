from __future__ import annotations

import io
import struct
import wave

import av
import numpy as np
import pytest
import soundfile

from models.audio.decode import decode
from models.audio.encode import synthetic_note, to_flac, to_pcm16, to_wav
from tests.recordings import tone


def test_samples_survive_and_peaks_are_clipped_not_wrapped():
    pcm = np.frombuffer(to_pcm16(np.array([0.0, 0.5, -0.5, 1.0, -1.0, 1.7, -3.0], np.float32)), "<i2")
    assert pcm.tolist() == [0, 16384, -16384, 32767, -32767, 32767, -32767]


def test_wav_reads_back_at_its_rate():
    tone = np.sin(np.arange(2205) / 22050 * 2 * np.pi * 440).astype(np.float32) * 0.8
    read, rate = soundfile.read(io.BytesIO(to_wav(tone, 22050)), dtype="float32")
    assert rate == 22050 and np.abs(read - tone).max() < 1e-4


@pytest.mark.parametrize("voice", ["Anna", "小红", "a\0b", "odd", "x" * 300])
def test_a_note_is_in_the_file_and_the_sound_is_unharmed(voice):
    note = synthetic_note(voice)
    for samples in (tone(0.1, 24_000), tone(0.1, 24_000)[:-1]):
        data = to_wav(samples, 24_000, note)
        assert len(data) % 2 == 0 and struct.unpack("<I", data[4:8])[0] == len(data) - 8
        with av.open(io.BytesIO(data)) as file:
            assert file.metadata["comment"] == note.replace("\0", " ") and file.metadata["encoder"] == "ReadyVoice"
        with wave.open(io.BytesIO(data)) as file:
            assert file.readframes(10 ** 6) == to_pcm16(samples)


def test_flac_gives_back_the_very_samples():
    random = np.random.default_rng(0)
    samples = (random.integers(-32768, 32768, 50_001) / 32768).astype(np.float32)
    decoded = decode(to_flac(samples, 44_100, "a note"))
    assert decoded.sample_rate == 44_100 and np.array_equal(decoded.samples, samples)
    with av.open(io.BytesIO(to_flac(samples, 44_100, "a note"))) as file:
        assert {key.lower(): value for key, value in file.metadata.items()}["comment"] == "a note"
