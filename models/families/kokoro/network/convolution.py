"""Convolutions whose weights may be of a narrower type than the activations around them."""
from __future__ import annotations

from torch import Tensor, nn


class Conv1d(nn.Conv1d):
    """Computes in its weight's type (float16 or bfloat16, where the device is quick at them), answers in float32."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.to(self.weight.dtype)).float()


class ConvTranspose1d(nn.ConvTranspose1d):
    """As Conv1d, the other way: raises the frame rate."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.to(self.weight.dtype)).float()


class DepthwiseUpsample(nn.ConvTranspose1d):
    """A learned doubling of the frame rate, channel by channel."""

    def __init__(self, channels: int):
        super().__init__(channels, channels, 3, stride=2, padding=1, output_padding=1, groups=channels)
