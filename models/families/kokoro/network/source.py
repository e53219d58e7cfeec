"""The excitation: harmonics of the pitch plus noise (neural source filter, Wang et al. 2019)."""
from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

HARMONICS = 9  # the fundamental and 8 overtones
SINE_AMPLITUDE = 0.1
VOICED_NOISE = 0.003
UNVOICED_NOISE = SINE_AMPLITUDE / 3
VOICED_ABOVE = 10.0  # Hz
# white noise: drawn from a torch generator, or given by a function of the number of samples as float32 [n]
Noise = torch.Generator | Callable[[int], Tensor] | None


class HarmonicSource(nn.Module):
    """Pitch curve -> one excitation signal.

    Published code adds independent noise to each harmonic before a linear layer merges them. The weighted sum of
    independent normal noises is normal noise again, scaled by the weights' norm: one stream of it is drawn instead.
    """

    def __init__(self, sample_rate: int, samples_per_frame: int):
        super().__init__()
        self.sample_rate, self.samples_per_frame = sample_rate, samples_per_frame
        self.l_linear = nn.Linear(HARMONICS, 1)

    def forward(self, pitch: Tensor, noise: Noise) -> Tensor:
        """pitch [1, frames] in Hz, 0 where unvoiced -> [1, frames * samples_per_frame]; noise: what is random."""
        multiples = torch.arange(1, HARMONICS + 1, device=pitch.device, dtype=pitch.dtype).view(1, -1, 1)
        cycles = (pitch.unsqueeze(1) * multiples / self.sample_rate) % 1
        phase = cycles.cumsum(dim=-1) * (2 * math.pi) * self.samples_per_frame
        phase = F.interpolate(phase, scale_factor=self.samples_per_frame, mode="linear")
        weight = self.l_linear.weight
        harmonics = torch.einsum("oh,bht->bt", weight * SINE_AMPLITUDE, phase.sin_())
        voiced = (pitch > VOICED_ABOVE).to(pitch.dtype).repeat_interleave(self.samples_per_frame, dim=-1)
        level = (voiced * VOICED_NOISE + (1 - voiced) * UNVOICED_NOISE) * weight.norm()
        if callable(noise):
            white = noise(harmonics.shape[1]).unsqueeze(0)
        else:
            white = torch.randn(harmonics.shape, generator=noise, device=pitch.device)
        return torch.tanh(harmonics * voiced + level * white + self.l_linear.bias)
