"""A voice as Pocket TTS keeps it: the keys and values its backbone computed from the reference clip."""
from __future__ import annotations

from dataclasses import dataclass

import torch

CHECKPOINT = "readyvoice/checkpoint"  # tensor that says whose state it is


@dataclass(frozen=True)
class VoiceState:
    """caches: per attention layer (by its module name) keys and values, shape (2, 1, length, heads, head size), read
    only. length: positions heard."""

    caches: dict[str, torch.Tensor]
    length: int

    @property
    def bytes(self) -> int:
        return sum(cache.numel() * cache.element_size() for cache in self.caches.values())

    def flat(self, fingerprint: str) -> dict[str, torch.Tensor]:
        """As named tensors, in the layout of the package's own exported voices, and with the checkpoint's mark."""
        tensors = {CHECKPOINT: torch.tensor(list(bytes.fromhex(fingerprint)), dtype=torch.uint8)}
        for name, cache in self.caches.items():
            tensors[f"{name}/cache"] = cache.clone()
            tensors[f"{name}/offset"] = torch.full((1,), self.length, dtype=torch.long)
            tensors[f"{name}/pad"] = torch.zeros(1, dtype=torch.long)
        return tensors


def from_flat(tensors: dict[str, torch.Tensor], like: VoiceState, fingerprint: str | None = None) -> VoiceState:
    """A state from `VoiceState.flat` or from the package's export.

    like: any state of the network it is for. fingerprint: the checkpoint it must have been made with, bit for bit;
    None takes the package's exports, which don't say, in any number format. Raises ValueError for another model's.
    """
    if fingerprint is not None:
        mark = tensors.get(CHECKPOINT)
        if mark is None or bytes(mark.tolist()).hex() != fingerprint:
            raise ValueError("this voice state was made with another checkpoint")
    layers: dict[str, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        module, _, field = name.partition("/")
        layers.setdefault(module, {})[field] = tensor
    if not like.caches.keys() <= layers.keys():
        raise ValueError("this voice state is of a network with other layers")
    caches, lengths = {}, set()
    for name, model in like.caches.items():
        cache, length = _layer(layers[name])
        if cache.ndim != 5 or cache.shape[:2] != model.shape[:2] or cache.shape[3:] != model.shape[3:]:
            raise ValueError(f"this voice state has another shape than the network: {tuple(cache.shape)}")
        if fingerprint is not None and cache.dtype != model.dtype:
            raise ValueError(f"this voice state is in {cache.dtype}, the network in {model.dtype}")
        if not 0 < length <= cache.shape[2]:
            raise ValueError(f"this voice state says {length} positions and holds {cache.shape[2]}")
        caches[name] = cache[:, :, :length].to(model.device, model.dtype).contiguous().clone()
        lengths.add(length)
    if len(lengths) != 1:
        raise ValueError(f"the layers of this voice state have different lengths: {sorted(lengths)}")
    return VoiceState(caches, lengths.pop())


def _layer(fields: dict[str, torch.Tensor]) -> tuple[torch.Tensor, int]:
    if "cache" not in fields:
        raise ValueError("this is not a voice state: a layer has no cache")
    if "offset" in fields:
        return fields["cache"], int(fields["offset"].reshape(-1)[0])
    if "current_end" in fields:  # exports of the package's first versions: the length of a tensor is the number
        return fields["cache"], fields["current_end"].shape[0]
    raise ValueError("this is not a voice state: a layer has no offset")
