"""Voice states as safetensors files that say which clip they belong to."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from models.voices.clip import Clip

WORDLESS = ("kokoro",)  # states made from the sound alone: they outlive a change of the transcript


def packed(tensors: Mapping[str, Tensor], clip: Clip) -> bytes:
    """The tensors with the clip's digest beside them."""
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(held, metadata={"clip": clip.digest, "sound": _sound(clip)})


def read(path: Path, clip: Clip) -> dict[str, Tensor] | None:
    """None when the file is not sound or was made from something else."""
    try:
        with safe_open(path, framework="pt") as stored:
            about = stored.metadata() or {}
            fits = about.get("sound") == _sound(clip) if path.stem in WORDLESS else about.get("clip") == clip.digest
            return {name: stored.get_tensor(name).clone() for name in stored.keys()} if fits else None
    except (OSError, SafetensorError):
        return None


def _sound(clip: Clip) -> str:
    return Clip(np.asarray(clip.samples), clip.sample_rate).digest
