"""The phonemes' acoustic content: an embedding, convolutions, one LSTM (StyleTTS 2's text encoder)."""
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.families.kokoro.network.prosody import bidirectional


class ChannelNorm(nn.Module):
    """Layer norm over channels of [1, channels, time], under its published parameter names."""

    def __init__(self, channels: int):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels))
        self.beta = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x.transpose(1, 2), self.gamma.shape, self.gamma, self.beta, 1e-5).transpose(1, 2)


class TextEncoder(nn.Module):
    """ids int64 [1, time] -> [1, time, channels]."""

    def __init__(self, tokens: int, channels: int, kernel: int, depth: int):
        super().__init__()
        self.embedding = nn.Embedding(tokens, channels)
        self.cnn = nn.ModuleList([
            nn.Sequential(nn.Conv1d(channels, channels, kernel, padding=kernel // 2), ChannelNorm(channels),
                          nn.LeakyReLU(0.2))
            for _ in range(depth)
        ])
        self.lstm = bidirectional(channels, channels)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids).transpose(1, 2)
        for block in self.cnn:
            x = block(x)
        return self.lstm(x.transpose(1, 2))[0]
