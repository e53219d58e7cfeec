"""Who speaks: a speaker encoder in torch from samples on.

The network and its weights are Resemblyzer's (Apache-2.0; "Generalized End-to-End Loss for Speaker Verification", Wan
et al. 2018): three LSTM layers over 40 mel bands of 16 kHz speech. Only the weights are taken from its package, which
itself needs a compiler to install.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from models.audio.resample import resample
from models.voices import encoder_weights

RATE = 16_000
WINDOW, HOP, BANDS, SIZE = 400, 160, 40, 256  # samples, samples, mel bands, length of an embedding
PART = 160  # frames heard at once: 1.6 s
PER_SECOND = 1.3  # parts begun
LEVEL = -25.0  # dBFS, that of read speech in its training data
_lock = threading.Lock()
_loaded: list[SpeakerEncoder] = []


class SpeakerEncoder(nn.Module):
    """`embed` for speech; `forward` for what has been resampled and levelled already."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(BANDS, SIZE, 3, batch_first=True)
        self.linear = nn.Linear(SIZE, SIZE)
        self.register_buffer("filters", torch.from_numpy(mel_filters()), persistent=False)
        self.register_buffer("hann", torch.hann_window(WINDOW), persistent=False)

    def mel(self, samples: torch.Tensor) -> torch.Tensor:
        """[n] samples at 16 kHz to [frames, 40] mel powers."""
        padded = nn.functional.pad(samples, (WINDOW // 2, WINDOW // 2))
        spectrum = torch.stft(padded, WINDOW, HOP, window=self.hann, center=False, return_complex=True)
        return (self.filters @ (spectrum.real.square() + spectrum.imag.square())).T

    def parts(self, samples: torch.Tensor) -> torch.Tensor:
        """[parts, 256] unit embeddings of overlapping stretches of 1.6 s; shorter speech is padded with silence."""
        frames = -(-(len(samples) + 1) // HOP)
        step = round(RATE / PER_SECOND / HOP)
        starts = list(range(0, max(1, frames - PART + step + 1), step))
        if len(starts) > 1 and (len(samples) - starts[-1] * HOP) / (PART * HOP) < 0.75:
            starts.pop()
        missing = (starts[-1] + PART) * HOP - len(samples)
        mel = self.mel(nn.functional.pad(samples, (0, max(0, missing))))
        _, (hidden, _) = self.lstm(torch.stack([mel[start:start + PART] for start in starts]))
        raw = torch.relu(self.linear(hidden[-1]))
        return raw / raw.norm(dim=1, keepdim=True).clamp_min(1e-8)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        """[n] samples at 16 kHz and `LEVEL` to one unit embedding [256]."""
        mean = self.parts(samples).mean(0)
        return mean / mean.norm().clamp_min(1e-8)

    def embed(self, samples: np.ndarray, rate: int) -> np.ndarray:
        """float32 [256], of length 1. samples: float mono speech without long silences."""
        with torch.inference_mode():
            return self(level(torch.from_numpy(resample(samples, rate, RATE)))).numpy()

    def embed_parts(self, samples: np.ndarray, rate: int) -> np.ndarray:
        """float32 [parts, 256], one every 0.77 s."""
        with torch.inference_mode():
            return self.parts(level(torch.from_numpy(resample(samples, rate, RATE)))).numpy()


def level(samples: torch.Tensor) -> torch.Tensor:
    """Samples brought to `LEVEL`: the mel powers are not logarithmic, so loudness would count."""
    return samples * (10 ** (LEVEL / 20) / samples.square().mean().sqrt().clamp_min(1e-6))


def mel_filters() -> np.ndarray:
    """float32 [40, 201]: triangles with equal area on Slaney's mel scale (Auditory Toolbox, 1998), 0 to 8000 Hz."""
    def to_hertz(mel: np.ndarray) -> np.ndarray:
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    highest = 15 + np.log(RATE / 2 / 1000) / (np.log(6.4) / 27)
    corners = to_hertz(np.linspace(0, highest, BANDS + 2))
    bins = np.linspace(0, RATE / 2, WINDOW // 2 + 1)
    rising = (bins - corners[:-2, None]) / np.diff(corners)[:-1, None]
    falling = (corners[2:, None] - bins) / np.diff(corners)[1:, None]
    triangles = np.maximum(0, np.minimum(rising, falling))
    return (triangles * (2 / (corners[2:] - corners[:-2]))[:, None]).astype(np.float32)


def likeness(one: np.ndarray, other: np.ndarray) -> float:
    """Cosine of two embeddings: about 0.9 between halves of one recording, 0.5 to 0.7 between speakers."""
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def speaker_encoder(progress: Callable[[str], None] = lambda line: None) -> SpeakerEncoder:
    """The encoder on the CPU, loaded once and kept. Raises SpeechError("weights_missing")."""
    with _lock:
        if not _loaded:
            _loaded.append(_load(encoder_weights.fetch(progress)))
        return _loaded[0]


def _load(path: Path) -> SpeakerEncoder:
    weights = torch.load(path, map_location="cpu", weights_only=True)["model_state"]
    encoder = SpeakerEncoder()
    encoder.load_state_dict({name: value for name, value in weights.items() if name.startswith(("lstm.", "linear."))})
    return encoder.eval().requires_grad_(False)
