"""The decoder: content, pitch and energy -> features at twice the frame rate -> the generator's waveform."""
from __future__ import annotations

import torch
from torch import Tensor, nn

from models.families.kokoro.network.adain import AdainResBlock
from models.families.kokoro.network.convolution import Conv1d, ConvTranspose1d
from models.families.kokoro.network.generator import Generator
from models.families.kokoro.network.source import Noise

WIDTH, CONTENT = 1024, 64


class Decoder(nn.Module):
    def __init__(self, hidden: int, style_dim: int, generator: Generator, channels_out: int = 512):
        super().__init__()
        self.F0_conv, self.N_conv = (nn.Conv1d(1, 1, 3, stride=2, padding=1) for _ in range(2))
        self.asr_res = nn.Sequential(Conv1d(hidden, CONTENT, 1))
        self.encode = AdainResBlock(hidden + 2, WIDTH, style_dim)
        shown = WIDTH + 2 + CONTENT  # every block sees content, pitch and energy again
        self.decode = nn.ModuleList(
            [AdainResBlock(shown, WIDTH, style_dim) for _ in range(3)]
            + [AdainResBlock(shown, channels_out, style_dim, upsample=True)]
        )
        self.generator = generator

    def narrow(self, dtype: torch.dtype) -> None:
        """Have the wide convolutions compute in `dtype`; everything around them stays float32."""
        for module in self.modules():
            if isinstance(module, (Conv1d, ConvTranspose1d)):
                module.to(dtype)

    def features(self, content: Tensor, pitch: Tensor, energy: Tensor, style: Tensor) -> Tensor:
        """content [1, hidden, frames]; pitch, energy [1, 2 * frames] -> [1, channels_out, 2 * frames]."""
        curves = torch.cat([self.F0_conv(pitch.unsqueeze(1)), self.N_conv(energy.unsqueeze(1))], dim=1)
        x = self.encode(torch.cat([content, curves], dim=1), style)
        reminder = torch.cat([self.asr_res(content), curves], dim=1)
        for block in self.decode:
            x = block(torch.cat([x, reminder], dim=1), style)
        return x

    def forward(self, content: Tensor, pitch: Tensor, energy: Tensor, style: Tensor,
                noise: Noise) -> Tensor:
        """-> samples [1, 2 * frames * generator.m_source.samples_per_frame]."""
        return self.generator(self.features(content, pitch, energy, style), style, pitch, noise)
