"""Reading checkpoints: the published .pth form and flat safetensors, made into the network's own state dict."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

WEIGHT_NORM = (  # names of magnitude and direction, before and after torch 2.0
    (".weight_g", ".weight_v"),
    (".parametrizations.weight.original0", ".parametrizations.weight.original1"),
)
UNUSED = ("bert.pooler.", "bert.embeddings.position_ids", "decoder.generator.stft.")


class CheckpointError(ValueError):
    """The file holds something else than the network's tensors; the message names the first of them."""


def read(path: Path) -> dict[str, Tensor]:
    """A .pth (dict of dicts by module, or flat) or .safetensors file -> tensors by the network's parameter names."""
    if path.suffix == ".safetensors":
        with safe_open(path, framework="pt") as file:
            flat = {name: file.get_tensor(name) for name in file.keys()}
    else:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
        flat = {}
        for name, value in loaded.items():
            inner = value if isinstance(value, Mapping) else {"": value}
            flat.update({f"{name}.{rest}".rstrip("."): tensor for rest, tensor in inner.items()})
    return canonical(flat)


def canonical(flat: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Strip `module.`, fold weight norm, drop what inference doesn't use. Raises CheckpointError."""
    names = {name.replace("module.", ""): value for name, value in flat.items()}
    result: dict[str, Tensor] = {}
    for name, value in names.items():
        for magnitude, direction in WEIGHT_NORM:
            if name.endswith(direction):
                stem = name.removesuffix(direction)
                result[f"{stem}.weight"] = _fold(value, names[stem + magnitude])
                break
            if name.endswith(magnitude):
                break
        else:
            if name.startswith(UNUSED):
                continue
            if name.endswith((".norm.weight", ".norm.bias")):
                _check_neutral(name, value)
                continue
            result[name] = value
    return {name: value.float() if value.is_floating_point() else value for name, value in result.items()}


def check(tensors: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Raises CheckpointError unless names and shapes agree exactly."""
    for what, names in (("missing", wanted.keys() - tensors.keys()), ("unexpected", tensors.keys() - wanted.keys())):
        if names:
            shown = ", ".join(sorted(names)[:3])
            raise CheckpointError(f"{len(names)} tensors {what}: {shown}" + ("…" if len(names) > 3 else ""))
    for name, tensor in tensors.items():
        if tensor.shape != wanted[name].shape:
            raise CheckpointError(f"{name} is {list(tensor.shape)}, not {list(wanted[name].shape)}")


def _fold(direction: Tensor, magnitude: Tensor) -> Tensor:
    """Weight norm (Salimans & Kingma 2016): each output's direction at unit length, times its magnitude."""
    return torch._weight_norm(direction.float(), magnitude.float(), 0)


def _check_neutral(name: str, value: Tensor) -> None:
    neutral = 1.0 if name.endswith("weight") else 0.0
    if not torch.all(value == neutral):
        raise CheckpointError(f"{name} is not {neutral:.0f} everywhere: a normalisation with weights of its own")
