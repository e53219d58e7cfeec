"""Codes to sound as they come: the codec's decoder with its past carried along, so that no frame is decoded twice.

The official decoder is causal throughout: quantiser, convolutions that look back, a transformer with a sliding window.
It decodes whole utterances in blocks of 300 frames with 25 frames decoded again as context. Carrying the inputs each
convolution still looks back on, and the transformer's keys and values, gives the same sound for any cut at a cost that
is only that of the new frames.
"""
from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from transformers import DynamicCache


@dataclass
class Past:
    """What a stream of frames leaves behind: inputs per convolution, keys and values of the transformer."""

    inputs: dict[nn.Module, Tensor] = field(default_factory=dict)
    attention: DynamicCache | None = None

    def copy(self) -> Past:
        """One that can go on by itself. Tensors of `inputs` are replaced, never written to, and may be shared."""
        return Past(dict(self.inputs), copy.deepcopy(self.attention))

    @property
    def bytes(self) -> int:
        kept = list(self.inputs.values())
        for layer in self.attention.layers if self.attention else ():
            kept += [tensor for tensor in (layer.keys, layer.values) if tensor is not None]
        return sum(tensor.numel() * tensor.element_size() for tensor in kept)


class StreamDecoder:
    """decoder: `Qwen3TTSTokenizerV2Decoder` of the official package, in eval mode."""

    def __init__(self, decoder: nn.Module):
        from qwen_tts.core.tokenizer_12hz import modeling_qwen3_tts_tokenizer_v2 as official

        self._decoder = decoder
        self._conv = official.Qwen3TTSTokenizerV2CausalConvNet
        self._transposed = official.Qwen3TTSTokenizerV2CausalTransConvNet
        self._next = official.Qwen3TTSTokenizerV2ConvNeXtBlock
        self._residual = official.Qwen3TTSTokenizerV2DecoderDecoderResidualUnit
        self._block = official.Qwen3TTSTokenizerV2DecoderDecoderBlock
        self.samples_a_frame = int(decoder.total_upsample)

    @torch.inference_mode()
    def decode(self, codes: Tensor, past: Past) -> Tensor:
        """float32 samples [frames * samples_a_frame] of codes [frames, groups] that follow `past`, which moves on."""
        from transformers import DynamicCache

        decoder = self._decoder
        if past.attention is None:
            past.attention = DynamicCache(config=decoder.config)
        hidden = self._run(decoder.pre_conv, decoder.quantizer.decode(codes.T[None]), past)
        hidden = decoder.pre_transformer(inputs_embeds=hidden.transpose(1, 2), past_key_values=past.attention,
                                         use_cache=True).last_hidden_state.transpose(1, 2)
        for stage in decoder.upsample:
            for part in stage:
                hidden = self._run(part, hidden, past)
        for part in decoder.decoder:
            hidden = self._run(part, hidden, past)
        return hidden.clamp(-1, 1).reshape(-1).float()

    def _run(self, part: nn.Module, hidden: Tensor, past: Past) -> Tensor:
        """One part of the decoder on [1, channels, time]."""
        if isinstance(part, self._conv):
            return part.conv(self._after(part, hidden, part.padding, past))
        if isinstance(part, self._transposed):
            stride, kernel = part.conv.stride[0], part.conv.kernel_size[0]
            back = -(-kernel // stride) - 1  # inputs before the first that still sound in its output
            whole = part.conv(self._after(part, hidden, back, past))
            return whole[..., back * stride:][..., :hidden.shape[-1] * stride]
        if isinstance(part, self._residual):
            inner = self._run(part.conv1, part.act1(hidden), past)
            return hidden + self._run(part.conv2, part.act2(inner), past)
        if isinstance(part, self._next):
            inner = part.norm(self._run(part.dwconv, hidden, past).transpose(1, 2))
            inner = part.gamma * part.pwconv2(part.act(part.pwconv1(inner)))
            return hidden + inner.transpose(1, 2)
        if isinstance(part, self._block):
            for inner in part.block:
                hidden = self._run(inner, hidden, past)
            return hidden
        return part(hidden)

    @staticmethod
    def _after(part: nn.Module, hidden: Tensor, back: int, past: Past) -> Tensor:
        """`hidden` with the `back` inputs before it in front; silence is zeros, as at the official decoder's start."""
        if not back:
            return hidden
        before = past.inputs.get(part)
        joined = functional.pad(hidden, (back, 0)) if before is None else torch.cat([before, hidden], -1)
        past.inputs[part] = joined[..., -back:].clone()
        return joined
