"""Voice states as safetensors files that say which clip they belong to."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from models.voices.clip import Clip

WORDLESS = ("kokoro",)  # states made from the sound alone: they outlive a change of the transcript


def packed(tensors: Mapping[str, Tensor], clip: Clip) -> bytes:
    """The tensors with the clip's digest beside them."""
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(held, metadata={"clip": clip.digest})


def read(path: Path, clip: Callable[[], Clip]) -> dict[str, Tensor] | None:
    """None when the file is not sound, or was made from another clip or transcript. A saved voice's sound never changes,
    so for states made from that alone `clip` isn't asked for."""
    try:
        with safe_open(path, framework="pt") as stored:
            if path.stem not in WORDLESS and (stored.metadata() or {}).get("clip") != clip().digest:
                return None
            return {name: stored.get_tensor(name).clone() for name in stored.keys()}
    except (OSError, SafetensorError):
        return None
