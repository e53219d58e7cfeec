"""The audio VAE's decoder, fed a patch at a time: the same samples as decoding everything at once.

Every convolution of it is causal, so all it needs of the past is the last few frames of its own input. These are kept
here, per utterance, and handed to the convolution in place of the zeros it would pad with; the package's own streaming
decoder swaps methods of the shared network instead, which a generator closed half-way would leave swapped.
"""
from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class StreamingDecoder:
    """Latents to samples. context: the past to go on from, as `context` of another decoder of the same network.

    noise: where decoders built with noise blocks take theirs from.
    """

    def __init__(self, vae: nn.Module, context: Mapping[str, Tensor] | None = None, noise: torch.Generator | None = None):
        self._decoder, self._noise = vae.decoder, noise
        self._condition = None
        if getattr(vae, "sr_bin_boundaries", None) is not None:
            device = next(vae.decoder.parameters()).device
            rate = torch.tensor([vae.out_sample_rate], device=device, dtype=torch.int32)
            self._condition = vae.decoder.get_sr_idx(rate)
        self._names = {module: name for name, module in vae.decoder.named_modules()}
        self.context: dict[str, Tensor] = dict(context or {})

    @torch.inference_mode()
    def decode(self, latents: Tensor) -> Tensor:
        """latents: [1, D, T] float32. Returns [T * hop] samples that follow on from those of the last call."""
        layers = self._decoder.model
        conditions = self._decoder.sr_cond_model if self._condition is not None else [None] * len(layers)
        for layer, condition in zip(layers, conditions):
            if condition is not None:
                latents = condition(latents, self._condition)
            latents = self._run(layer, latents)
        return latents.reshape(-1)

    def _run(self, layer: nn.Module, x: Tensor) -> Tensor:
        if isinstance(layer, nn.ConvTranspose1d):
            return self._transposed(layer, x)
        if isinstance(layer, nn.Conv1d):
            return self._convolved(layer, x)
        if isinstance(layer, nn.Sequential):
            for inner in layer:
                x = self._run(inner, x)
            return x
        kind, inner = type(layer).__name__, getattr(layer, "block", None)
        if kind == "NoiseBlock":
            shape = (x.shape[0], 1, x.shape[-1])
            return x + torch.randn(shape, generator=self._noise, device=x.device, dtype=x.dtype) * layer.linear(x)
        if inner is None:
            return layer(x)  # snake and tanh work on each frame by itself
        y = self._run(inner, x)
        return x + y if kind == "CausalResidualUnit" else y

    def _with_past(self, layer: nn.Module, x: Tensor, frames: int) -> Tensor:
        if frames <= 0:
            return x
        name = self._names[layer]
        past = self.context.get(name)
        x = F.pad(x, (frames, 0)) if past is None else torch.cat([past, x], dim=-1)
        self.context[name] = x[..., -frames:].clone()
        return x

    def _convolved(self, layer: nn.Conv1d, x: Tensor) -> Tensor:
        x = self._with_past(layer, x, (layer.kernel_size[0] - 1) * layer.dilation[0])
        return F.conv1d(x, layer.weight, layer.bias, layer.stride, 0, layer.dilation, layer.groups)

    def _transposed(self, layer: nn.ConvTranspose1d, x: Tensor) -> Tensor:
        """Each output frame takes part of the input frame under it and part of the one before."""
        stride, frames = layer.stride[0], x.shape[-1]
        x = self._with_past(layer, x, (layer.kernel_size[0] - 1) // stride)
        skipped = (x.shape[-1] - frames) * stride
        x = F.conv_transpose1d(x, layer.weight, layer.bias, layer.stride, 0, 0, layer.groups, layer.dilation)
        return x[..., skipped:skipped + frames * stride]
