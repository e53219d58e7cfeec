"""The backbone's matrices in half precision; norms, the residual stream and the sampler stay in float32."""
from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class HalfLinear(nn.Module):
    """A linear layer whose weights and products are in `dtype`; the result is in `out`.

    One frame at a time is a product of a matrix and a vector, bound by reading the weights: half as many bytes, and
    `mv` reads them faster on a CPU than the general product does.
    """

    def __init__(self, linear: nn.Linear, dtype: torch.dtype, out: torch.dtype):
        super().__init__()
        self.weight = nn.Parameter(linear.weight.data.to(dtype), requires_grad=False)
        self.out = out

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.to(self.weight.dtype)
        if x.numel() == x.shape[-1] and x.device.type == "cpu":
            y = torch.mv(self.weight, x.reshape(-1)).view(*x.shape[:-1], -1)
        else:
            y = F.linear(x, self.weight)
        return y.to(self.out)


def halve(transformer: nn.Module, dtype: torch.dtype) -> None:
    """Replace the matrices of every layer in place. Attention runs in `dtype`, and so the KV cache is in it too."""
    for layer in transformer.layers:
        layer.self_attn.in_proj = HalfLinear(layer.self_attn.in_proj, dtype, dtype)
        layer.self_attn.out_proj = HalfLinear(layer.self_attn.out_proj, dtype, torch.float32)
        layer.linear1 = HalfLinear(layer.linear1, dtype, dtype)
        layer.linear2 = HalfLinear(layer.linear2, dtype, torch.float32)
