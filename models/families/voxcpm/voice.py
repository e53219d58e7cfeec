"""A voice as VoxCPM uses it: the clip's latents, and what the language models make of all that comes before the text."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

FORMAT = 1


@dataclass(frozen=True)
class VoiceState:
    """What is computed once from a voice. Read only: utterances copy from it.

    base, residual: keys and values of the prefix in both language models, [2, layers, heads, n, head size], of which
    the first `head` positions are the reference clip (VoxCPM 2; 0 without) and the others the transcript's `tokens`.
    patches: [T, width], embeddings of the clip to be continued, T = 0 without transcript; last: [P, D], its last
    patch. context: the decoder's past at its end.
    """

    base: Tensor
    residual: Tensor
    head: int
    transcript: str
    tokens: tuple[int, ...]
    patches: Tensor
    last: Tensor
    context: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def continues(self) -> bool:
        """Whether speech can go on from the clip, and not only sound like it."""
        return len(self.patches) > 0

    @property
    def size(self) -> int:
        """Bytes."""
        tensors = (self.base, self.residual, self.patches, self.last, *self.context.values())
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def tensors(self, fingerprint: str) -> dict[str, Tensor]:
        """Flat and on the CPU, for safetensors."""
        flat = {"base": self.base, "residual": self.residual, "patches": self.patches, "last": self.last,
                "head": torch.tensor(self.head), "tokens": torch.tensor(self.tokens, dtype=torch.int64),
                "transcript": _letters(self.transcript), "fingerprint": _letters(fingerprint),
                "format": torch.tensor(FORMAT)}
        flat |= {f"context.{name}": tensor for name, tensor in self.context.items()}
        return {f"voxcpm.{name}": tensor.detach().cpu().contiguous().clone() for name, tensor in flat.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], fingerprint: str, device: str) -> VoiceState:
        """The inverse. Raises ValueError for the state of another family, checkpoint or number format."""
        flat = {name.removeprefix("voxcpm."): tensor for name, tensor in tensors.items() if name.startswith("voxcpm.")}
        if "format" not in flat or int(flat["format"]) != FORMAT:
            raise ValueError("this is not a voice state of this version of the voxcpm family")
        if _text(flat["fingerprint"]) != fingerprint:
            raise ValueError("this voice state was made with other weights or in another number format")
        context = {name.removeprefix("context."): tensor.to(device) for name, tensor in flat.items()
                   if name.startswith("context.")}
        return cls(flat["base"].to(device), flat["residual"].to(device), int(flat["head"]), _text(flat["transcript"]),
                   tuple(flat["tokens"].tolist()), flat["patches"].to(device), flat["last"].to(device), context)


def _letters(text: str) -> Tensor:
    return torch.tensor(list(text.encode()), dtype=torch.uint8)


def _text(letters: Tensor) -> str:
    return bytes(letters.tolist()).decode()
