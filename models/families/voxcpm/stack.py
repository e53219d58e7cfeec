"""A language model of the package run on top of its key-value cache: any number of positions after those it holds.

The package prefills a whole sequence or steps by one over the cache's full length; here a prefix can be put back and
continued, and attention reads only the positions that are filled.
"""
from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Stack:
    """network: the package's MiniCPMModel with its cache set up. compiled: its `forward_step` is a compiled function.

    length: positions filled. capacity: positions there are. positions_run: all positions computed so far.
    """

    def __init__(self, network: nn.Module, compiled: bool = False):
        from voxcpm.modules.minicpm4.model import apply_rotary_pos_emb

        self._rotate = apply_rotary_pos_emb
        self._network, self._compiled = network, compiled
        self.length = self.positions_run = 0
        self.capacity: int = network.kv_cache.max_length

    def restart(self, prefix: Tensor | None = None) -> None:
        """Forget all positions; then hold those of `prefix` ([2, layers, heads, n, head size]), which is only read."""
        cache = self._cache()
        if self._compiled:
            cache.zero_()  # its steps read (and mask) the whole length, where what is not a number would spread
        self.length = 0
        if prefix is not None and prefix.shape[3]:
            self.length = prefix.shape[3]
            cache[:, :, 0, :, :self.length] = prefix

    def held(self, count: int) -> Tensor:
        """A copy of the first `count` positions, for `restart`."""
        return self._cache()[:, :, 0, :, :count].clone()

    def release(self) -> None:
        """Give the cache's memory back; the next `restart` takes it anew."""
        store = self._network.kv_cache
        self._shape = store.kv_cache.shape
        store.kv_cache = store.kv_cache.new_empty(0)
        self.length = 0

    def _cache(self) -> Tensor:
        store = self._network.kv_cache
        if store.kv_cache.numel() == 0:
            store.kv_cache = store.kv_cache.new_zeros(self._shape)
        return store.kv_cache

    def extend(self, x: Tensor) -> Tensor:
        """x: [1, T, width] for the next T positions. Returns their hidden states, [1, T, width]."""
        count = x.shape[1]
        start, end = self.length, self.length + count
        if end > self.capacity:
            raise ValueError(f"{end} positions in a cache of {self.capacity}")
        self.positions_run += count
        if self._compiled and count == 1:
            x = self._network.forward_step(x[:, 0], torch.tensor([start], device=x.device)).clone()[:, None]
        else:
            x = self._run(x, start, end)
        self.length = end
        return x

    def _run(self, x: Tensor, start: int, end: int) -> Tensor:
        cache, rope = self._cache(), self._network.rope_emb
        rotation = None if rope is None else rope(torch.arange(start, end, device=x.device))
        mask = None
        if start and end - start > 1:  # later ones see all before them and not each other's future
            mask = torch.ones(end - start, end, dtype=torch.bool, device=x.device).tril(start)
        for number, layer in enumerate(self._network.layers):
            scale = layer.scale_depth / math.sqrt(layer.num_hidden_layers) if layer.use_mup else None
            y = self._attend(layer.self_attn, layer.input_layernorm(x), cache[:, number], rotation, mask, start, end)
            x = x + (y if scale is None else y * scale)
            y = layer.mlp(layer.post_attention_layernorm(x))
            x = x + (y if scale is None else y * scale)
        return self._network.norm(x)

    def _attend(self, layer: nn.Module, x: Tensor, cache: Tensor, rotation: tuple[Tensor, Tensor] | None,
                mask: Tensor | None, start: int, end: int) -> Tensor:
        count, size = end - start, layer.head_dim
        query = layer.q_proj(x).view(1, count, -1, size).transpose(1, 2)
        key = layer.k_proj(x).view(1, count, -1, size).transpose(1, 2)
        value = layer.v_proj(x).view(1, count, -1, size).transpose(1, 2)
        if rotation is not None:
            query, key = self._rotate(query, key, *rotation)
        cache[0, :, :, start:end] = key
        cache[1, :, :, start:end] = value
        keys, values = cache[0, :, :, :end], cache[1, :, :, :end]
        if count == 1:  # heads that share keys become positions that share keys: no copy of the cache per head
            query = query.view(1, layer.num_key_value_heads, layer.num_key_value_groups, size)
            out = F.scaled_dot_product_attention(query, keys, values).view(1, -1, 1, size)
        else:
            out = F.scaled_dot_product_attention(query.contiguous(), keys, values, attn_mask=mask,
                                                 is_causal=start == 0, enable_gqa=True)
        return layer.o_proj(out.transpose(1, 2).reshape(1, count, -1))
