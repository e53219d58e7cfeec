"""Kokoro's network run in such a way that a gradient comes back to the voice: what fitting rehearses with.

A copy of its own in memory, so that the session that speaks is neither slowed nor touched.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from models.families.kokoro import checkpoint, device, phonemes, weights
from models.families.kokoro.network import SAMPLE_RATE, STYLE_DIM, KokoroNetwork
from models.text.phonemes import kokoro
from models.voices.speaker import RATE

VOICED = 40.0  # Hz; the network's pitch curve is near 0 where nothing is voiced
PITCH_RATE = 80  # values of the pitch curve a second


@dataclass(frozen=True)
class Take:
    """samples float32 [n] at 24 kHz and pitch in Hz [frames, 80 a second], both with a gradient if the row has one."""

    samples: Tensor
    pitch: Tensor


class Rehearsal:
    """The network and the lines it says. lines: short English sentences."""

    def __init__(self, lines: tuple[str, ...], path: Path | None = None, progress: Callable[[str], None] = lambda line: None):
        where, precision = device.choose("auto", "auto")
        self.device = torch.device(where)
        folder = weights.fetch(path, progress)
        with torch.device("meta"):
            self._network = KokoroNetwork()
        self._network.load_state_dict(checkpoint.read(weights.model_file(folder)), assign=True)
        self._network.requires_grad_(False).eval().to(self.device)
        # float16's range is too small for gradients
        self._network.decoder.narrow(torch.bfloat16 if precision == "float16" else getattr(torch, precision))
        vocabulary = phonemes.vocabulary(folder)
        self._ids = [phonemes.ids(kokoro(line, "en-us"), vocabulary) for line in lines]

    def __len__(self) -> int:
        return len(self._ids)

    def row(self, table: Tensor, line: int) -> Tensor:
        """The row of a voice [510, 256] that a line is said with, [1, 256]."""
        return table[len(self._ids[line]) - 1].unsqueeze(0).to(self.device)

    def say(self, line: int, row: Tensor, seed: int = 0, window: float | None = None) -> Take:
        """One line in a voice row [1, 256]. Durations are taken as they fall; pitch, energy and sound carry the gradient.

        window: seconds of sound to make, from somewhere (by the seed) inside the line; the pitch is always the whole line's.
        """
        network = self._network
        ids = torch.tensor([[phonemes.BOUNDARY, *self._ids[line], phonemes.BOUNDARY]], device=self.device)
        timbre, manner = row.split(STYLE_DIM, dim=1)
        encoded = network.predictor.text_encoder(network.bert_encoder(network.bert(ids)), manner)
        with torch.no_grad():
            durations = network.predictor.durations(encoded, 1.0)
        pitch, energy = network.predictor.curves(encoded.repeat_interleave(durations, dim=1), manner)
        content = network.text_encoder(ids).repeat_interleave(durations, dim=1).transpose(1, 2)
        features = network.decoder.features(content, pitch, energy, timbre)
        dice = torch.Generator(self.device).manual_seed(seed)
        # the excitation's phase adds up over time, so a gradient through it would be noise: pitch is led by its own measure
        heard = pitch.detach()
        if window is not None:
            lead, tail = (2 * int(frames) for frames in durations[[0, -1]])
            length = round(window * PITCH_RATE)
            room = features.shape[-1] - lead - tail - length
            if room > 0:
                start = lead + int(torch.randint(room + 1, (1,), generator=dice, device=self.device))
                features, heard = features[..., start:start + length], heard[..., start:start + length]
        return Take(network.decoder.generator(features, timbre, heard, dice).flatten(), pitch.flatten())


@lru_cache(maxsize=1)
@torch.inference_mode(False)
def _kernel() -> Tensor:
    """Low-pass for 24 to 16 kHz: a Hann-windowed sinc at two thirds of the input's band, sampled at twice its rate."""
    taps = 2 * 48 + 1
    time = (torch.arange(taps) - taps // 2).double() / 2  # in input samples, on the doubled grid
    cutoff = 0.96 * RATE / SAMPLE_RATE
    return (torch.sinc(cutoff * time) * cutoff * torch.hann_window(taps, periodic=False, dtype=torch.float64)).float()


def down(samples: Tensor) -> Tensor:
    """[n] at 24 kHz to [2n/3] at 16 kHz, with a gradient: every third value of the signal interpolated to twice its rate."""
    kernel = _kernel().to(samples.device)
    doubled = torch.zeros(2 * len(samples), device=samples.device, dtype=samples.dtype)
    doubled[::2] = samples
    return torch.nn.functional.conv1d(doubled.view(1, 1, -1), kernel.view(1, 1, -1), stride=3, padding=len(kernel) // 2).flatten()
