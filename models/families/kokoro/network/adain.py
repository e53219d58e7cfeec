"""Adaptive instance normalisation: the style enters the network here (StyleTTS 2, section 3; Huang & Belongie 2017)."""
from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from models.families.kokoro.network.convolution import Conv1d, DepthwiseUpsample

EPSILON = 1e-5
SQRT_HALF = 2.0 ** -0.5


class AdaIN1d(nn.Module):
    """Each channel is normalised over time, then scaled and shifted as the style says: (1 + gamma) * x_hat + beta."""

    def __init__(self, style_dim: int, channels: int):
        super().__init__()
        self.fc = nn.Linear(style_dim, 2 * channels)

    def affine(self, style: Tensor) -> tuple[Tensor, Tensor]:
        """style [1, style_dim] -> scale and shift, each [1, channels, 1]."""
        gamma, beta = self.fc(style).unsqueeze(-1).chunk(2, dim=1)
        return 1 + gamma, beta

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        """x [1, channels, time], float32."""
        scale, shift = self.affine(style)
        return F.instance_norm(x, weight=scale.flatten(), bias=shift.flatten(), eps=EPSILON)


class AdaLayerNorm(nn.Module):
    """The same idea per time step: normalised over channels, scaled and shifted by the style."""

    def __init__(self, style_dim: int, channels: int):
        super().__init__()
        self.channels = channels
        self.fc = nn.Linear(style_dim, 2 * channels)

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        """x [1, time, channels]."""
        gamma, beta = self.fc(style).flatten().chunk(2)
        return F.layer_norm(x, (self.channels,), 1 + gamma, beta, EPSILON)


class AdainResBlock(nn.Module):
    """Two convolutions behind AdaIN with a shortcut; `upsample` doubles the frame rate (StyleTTS 2's decoder block)."""

    def __init__(self, channels_in: int, channels_out: int, style_dim: int, upsample: bool = False):
        super().__init__()
        self.norm1 = AdaIN1d(style_dim, channels_in)
        self.norm2 = AdaIN1d(style_dim, channels_out)
        self.conv1 = Conv1d(channels_in, channels_out, 3, padding=1)
        self.conv2 = Conv1d(channels_out, channels_out, 3, padding=1)
        self.conv1x1 = Conv1d(channels_in, channels_out, 1, bias=False) if channels_in != channels_out else None
        self.pool = DepthwiseUpsample(channels_in) if upsample else None

    def forward(self, x: Tensor, style: Tensor) -> Tensor:
        """x [1, channels_in, time] -> [1, channels_out, time, doubled where it upsamples]."""
        inner = F.leaky_relu(self.norm1(x, style), 0.2)
        if self.pool is not None:
            inner = self.pool(inner)
        inner = self.conv2(F.leaky_relu(self.norm2(self.conv1(inner), style), 0.2))
        # a 1x1 convolution and nearest-neighbour doubling commute: convolve the shorter one
        skip = x if self.conv1x1 is None else self.conv1x1(x)
        if self.pool is not None:
            skip = skip.repeat_interleave(2, dim=-1)
        return (inner + skip) * SQRT_HALF
