from __future__ import annotations

import io

import numpy as np
import soundfile

from models.audio.encode import to_pcm16, to_wav


def test_samples_survive_and_peaks_are_clipped_not_wrapped():
    pcm = np.frombuffer(to_pcm16(np.array([0.0, 0.5, -0.5, 1.0, -1.0, 1.7, -3.0], np.float32)), "<i2")
    assert pcm.tolist() == [0, 16384, -16384, 32767, -32767, 32767, -32767]


def test_wav_reads_back_at_its_rate():
    tone = np.sin(np.arange(2205) / 22050 * 2 * np.pi * 440).astype(np.float32) * 0.8
    read, rate = soundfile.read(io.BytesIO(to_wav(tone, 22050)), dtype="float32")
    assert rate == 22050 and np.abs(read - tone).max() < 1e-4
