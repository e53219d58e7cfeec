"""iSTFTNet (Kaneko et al. 2022): upsampling convolutions, then magnitude and phase of a small inverse STFT.

Its residual blocks are AdaIN-led with snake activations (Ziyin et al. 2020): x + sin(a x)^2 / a.
"""
from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.families.kokoro.network.adain import AdaIN1d
from models.families.kokoro.network.convolution import Conv1d, ConvTranspose1d
from models.families.kokoro.network.source import HarmonicSource, Noise


def snake(x: Tensor, alpha: Tensor) -> Tensor:
    return x + torch.sin(alpha * x).square() / alpha


class SnakeResBlock(nn.Module):
    """Pairs of convolutions, the first of each dilated, every one behind AdaIN and snake."""

    def __init__(self, channels: int, kernel: int, dilations: Sequence[int], style_dim: int):
        super().__init__()
        self.convs1 = nn.ModuleList([
            Conv1d(channels, channels, kernel, dilation=d, padding=(kernel - 1) * d // 2) for d in dilations
        ])
        self.convs2 = nn.ModuleList([Conv1d(channels, channels, kernel, padding=kernel // 2) for _ in dilations])
        self.adain1, self.adain2 = (
            nn.ModuleList([AdaIN1d(style_dim, channels) for _ in dilations]) for _ in range(2)
        )
        self.alpha1, self.alpha2 = (
            nn.ParameterList([nn.Parameter(torch.ones(1, channels, 1)) for _ in dilations]) for _ in range(2)
        )

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        for i, (first, second) in enumerate(zip(self.convs1, self.convs2)):
            inner = first(snake(self.adain1[i](x, style), self.alpha1[i]))
            x = x + second(snake(self.adain2[i](inner, style), self.alpha2[i]))
        return x


class Generator(nn.Module):
    def __init__(self, style_dim: int, channels: int, rates: Sequence[int], kernels: Sequence[int],
                 block_kernels: Sequence[int], block_dilations: Sequence[Sequence[int]], n_fft: int, hop: int,
                 sample_rate: int):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.blocks_per_stage = len(block_kernels)
        self.m_source = HarmonicSource(sample_rate, math.prod(rates) * hop)
        self.ups, self.resblocks = nn.ModuleList(), nn.ModuleList()
        self.noise_convs, self.noise_res = nn.ModuleList(), nn.ModuleList()
        for stage, (rate, kernel) in enumerate(zip(rates, kernels)):
            before, width = channels >> stage, channels >> stage + 1
            self.ups.append(ConvTranspose1d(before, width, kernel, rate, padding=(kernel - rate) // 2))
            for block_kernel, dilations in zip(block_kernels, block_dilations):
                self.resblocks.append(SnakeResBlock(width, block_kernel, dilations, style_dim))
            stride = math.prod(rates[stage + 1:])
            last = stage + 1 == len(rates)
            # the source's spectrum comes at the output's frame rate: brought down to this stage's
            self.noise_convs.append(
                Conv1d(n_fft + 2, width, 1) if last
                else Conv1d(n_fft + 2, width, 2 * stride, stride, padding=(stride + 1) // 2)
            )
            self.noise_res.append(SnakeResBlock(width, 11 if last else 7, (1, 3, 5), style_dim))
        self.conv_post = Conv1d(width, n_fft + 2, 7, padding=3)

    def spectrum(self, signal: Tensor) -> Tensor:
        """[1, samples] -> magnitudes over phases, [1, n_fft + 2, frames]."""
        bins = torch.stft(signal, self.n_fft, self.hop, window=self._window(signal), return_complex=True)
        return torch.cat([bins.abs(), bins.angle()], dim=1)

    def waveform(self, x: Tensor) -> Tensor:
        """Log magnitudes over phases' angles, [1, n_fft + 2, frames] -> samples [1, (frames - 1) * hop]."""
        log_magnitude, angle = x.split(self.n_fft // 2 + 1, dim=1)
        bins = torch.polar(log_magnitude.exp(), angle.sin())
        return torch.istft(bins, self.n_fft, self.hop, window=self._window(x))

    def _window(self, like: Tensor) -> Tensor:
        return torch.hann_window(self.n_fft, device=like.device)

    def forward(self, x: Tensor, style: Tensor, pitch: Tensor, noise: Noise) -> Tensor:
        """x [1, channels, frames] and pitch [1, frames] (80 a second) -> samples [1, frames * samples_per_frame]."""
        source = self.spectrum(self.m_source(pitch, noise))
        for stage, up in enumerate(self.ups):
            excitation = self.noise_res[stage](self.noise_convs[stage](source), style)
            x = up(F.leaky_relu(x, 0.1))
            if stage + 1 == len(self.ups):
                x = F.pad(x, (1, 0), mode="reflect")  # the STFT has one frame more than hops
            x = x + excitation
            blocks = self.resblocks[stage * self.blocks_per_stage:(stage + 1) * self.blocks_per_stage]
            x = sum(block(x, style) for block in blocks) / self.blocks_per_stage
        return self.waveform(self.conv_post(F.leaky_relu(x)))
