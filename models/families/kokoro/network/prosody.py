"""Prosody: how long each phoneme lasts, and the pitch and energy curves (StyleTTS 2, section 3.2)."""
from __future__ import annotations

import torch
from torch import Tensor, nn

from models.families.kokoro.network.adain import AdainResBlock, AdaLayerNorm


def bidirectional(width_in: int, width_out: int) -> nn.LSTM:
    return nn.LSTM(width_in, width_out // 2, batch_first=True, bidirectional=True)


def with_style(x: Tensor, style: Tensor) -> Tensor:
    """The style appended to every time step of x [1, time, channels]."""
    return torch.cat([x, style.unsqueeze(1).expand(-1, x.shape[1], -1)], dim=-1)


class LinearNorm(nn.Module):
    """A linear layer under the name it has in the checkpoints."""

    def __init__(self, width_in: int, width_out: int):
        super().__init__()
        self.linear_layer = nn.Linear(width_in, width_out)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear_layer(x)


class DurationEncoder(nn.Module):
    """LSTMs and style-led layer norms in turn; the style is shown again to every LSTM."""

    def __init__(self, hidden: int, style_dim: int, layers: int):
        super().__init__()
        self.lstms = nn.ModuleList()
        for _ in range(layers):
            self.lstms.append(bidirectional(hidden + style_dim, hidden))
            self.lstms.append(AdaLayerNorm(style_dim, hidden))

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        """x [1, time, hidden] -> [1, time, hidden + style_dim]."""
        x = with_style(x, style)
        for lstm, norm in zip(self.lstms[::2], self.lstms[1::2]):
            x = with_style(norm(lstm(x)[0], style), style)
        return x


class ProsodyPredictor(nn.Module):
    def __init__(self, hidden: int, style_dim: int, layers: int, max_duration: int):
        super().__init__()
        self.text_encoder = DurationEncoder(hidden, style_dim, layers)
        self.lstm = bidirectional(hidden + style_dim, hidden)
        self.duration_proj = LinearNorm(hidden, max_duration)
        self.shared = bidirectional(hidden + style_dim, hidden)
        self.F0, self.N = (
            nn.ModuleList([
                AdainResBlock(hidden, hidden, style_dim),
                AdainResBlock(hidden, hidden // 2, style_dim, upsample=True),
                AdainResBlock(hidden // 2, hidden // 2, style_dim),
            ])
            for _ in range(2)
        )
        self.F0_proj, self.N_proj = (nn.Conv1d(hidden // 2, 1, 1) for _ in range(2))

    def durations(self, encoded: Tensor, speed: float) -> Tensor:
        """encoded [1, time, hidden + style_dim] -> int64 [time]: frames of 25 ms per phoneme, at least one each.

        The network votes once for each of the frames a phoneme may last; their sum is its length.
        """
        votes = torch.sigmoid(self.duration_proj(self.lstm(encoded)[0])).sum(dim=-1).flatten()
        return torch.round(votes / speed).clamp(min=1).long()

    def curves(self, aligned: Tensor, style: Tensor) -> tuple[Tensor, Tensor]:
        """aligned [1, frames, hidden + style_dim] -> pitch (Hz) and energy, each [1, 2 * frames]."""
        shared = self.shared(aligned)[0].transpose(1, 2)
        curves = []
        for blocks, project in ((self.F0, self.F0_proj), (self.N, self.N_proj)):
            x = shared
            for block in blocks:
                x = block(x, style)
            curves.append(project(x).squeeze(1))
        return curves[0], curves[1]
