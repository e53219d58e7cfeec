"""What a voice measures, apart from any network: how high it lies, how much it moves, and how it is coloured."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.audio.resample import resample

RATE = 16_000
LOWEST, HIGHEST = 60.0, 450.0  # Hz
FRAME, HOP = 0.05, 0.01  # seconds
APERIODIC = 0.12  # of YIN's normalised difference: above it a frame is taken as unvoiced
BANDS = np.geomspace(125, 7000, 22)  # Hz, edges


@dataclass(frozen=True)
class Traits:
    """pitch: median Hz of voiced frames. spread: semitones, standard deviation about it. spectrum: long-term average in dB
    per third of an octave from 125 Hz to 7 kHz, its mean taken away."""

    pitch: float
    spread: float
    spectrum: np.ndarray

    def semitones_from(self, other: Traits) -> float:
        return float(12 * np.log2(self.pitch / other.pitch))

    def decibels_from(self, other: Traits) -> float:
        """Root mean square difference of the spectra."""
        return float(np.sqrt(np.square(self.spectrum - other.spectrum).mean()))


def traits(samples: np.ndarray, rate: int) -> Traits:
    """samples: float mono speech. Pitch and spread are NaN where nothing is voiced."""
    sound = resample(samples, rate, RATE)
    pitches = pitch_curve(sound)
    voiced = pitches[pitches > 0]
    if not len(voiced):
        return Traits(float("nan"), float("nan"), _spectrum(sound))
    median = float(np.median(voiced))
    steps = 12 * np.log2(voiced / median)
    return Traits(median, float(steps[np.abs(steps) < 12].std()), _spectrum(sound))  # an octave off is a slip of the tracker


def pitch_curve(sound: np.ndarray) -> np.ndarray:
    """Hz every 10 ms, 0 where unvoiced, of 16 kHz samples: YIN (de Cheveigne and Kawahara, 2002)."""
    size, hop, longest = round(FRAME * RATE), round(HOP * RATE), int(RATE / LOWEST)
    shortest = int(RATE / HIGHEST)
    if len(sound) < size + longest:
        return np.zeros(0)
    starts = np.arange(0, len(sound) - size - longest, hop)
    frames = sound[starts[:, None] + np.arange(size + longest)].astype(np.float64)
    length = 1 << (2 * size + longest).bit_length()
    spectra = np.fft.rfft(frames, length) * np.conj(np.fft.rfft(frames[:, :size], length))
    together = np.fft.irfft(spectra, length)[:, :longest + 1]
    energy = np.concatenate([np.zeros((len(frames), 1)), np.cumsum(np.square(frames), axis=1)], axis=1)
    shifted = energy[:, size:size + longest + 1] - energy[:, :longest + 1]
    difference = np.maximum(shifted[:, :1] + shifted - 2 * together, 0)
    running = np.cumsum(difference[:, 1:], axis=1)
    normal = difference[:, 1:] * np.arange(1, longest + 1) / np.maximum(running, 1e-12)  # at lags 1 .. longest
    inside = normal[:, shortest - 1:]
    dips = (inside < APERIODIC) & (np.roll(inside, -1, 1) >= inside)
    lags = np.where(dips.any(1), dips.argmax(1), 0) + shortest
    loud = energy[:, size] > 1e-4 * np.percentile(energy[:, size], 95)
    return np.where(dips.any(1) & loud, RATE / _refined(normal, lags), 0.0)


def _refined(normal: np.ndarray, lags: np.ndarray) -> np.ndarray:
    """The lag of the parabola through a dip and its neighbours; column i of `normal` is lag i + 1."""
    at = np.clip(lags - 1, 1, normal.shape[1] - 2)
    rows = np.arange(len(at))
    left, middle, right = normal[rows, at - 1], normal[rows, at], normal[rows, at + 1]
    bend = left - 2 * middle + right
    return at + 1 + np.where(bend > 1e-12, 0.5 * (left - right) / np.maximum(bend, 1e-12), 0).clip(-1, 1)


def _spectrum(sound: np.ndarray) -> np.ndarray:
    size = 1024
    padded = np.pad(sound, (0, max(0, size - len(sound))))
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::size // 2] * np.hanning(size)
    powers = np.square(np.abs(np.fft.rfft(frames))).mean(0)
    bins = np.fft.rfftfreq(size, 1 / RATE)
    bands = [powers[(bins >= low) & (bins < high)].mean() for low, high in zip(BANDS, BANDS[1:])]
    decibels = 10 * np.log10(np.maximum(bands, 1e-12))
    return decibels - decibels.mean()
