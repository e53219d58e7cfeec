"""Where a network runs and in which number format."""
from __future__ import annotations

import torch

from models.errors import SpeechError
from models.families.protocol import ModelSpec


def device_of(wish: str, model: str) -> str:
    """"cpu" or "cuda:N" for "auto", "cpu", "cuda" or "cuda:N". Raises SpeechError("device_missing")."""
    if wish == "auto":
        return "cuda:0" if torch.cuda.is_available() else "cpu"
    if wish == "cpu":
        return wish
    number = int(wish.partition(":")[2] or 0)
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if number >= count:
        raise SpeechError("device_missing", "device", model=model, device=wish)
    return f"cuda:{number}"


def precision_of(wish: str, device: str) -> str:
    """"auto": float16 on CUDA, bfloat16 where the processor multiplies in it, else float32."""
    if wish != "auto":
        return wish
    if device != "cpu":
        return "float16"
    return "bfloat16" if torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported() else "float32"


def storage_of(spec: ModelSpec, device: str) -> str:
    """The format of the backbone's matrices: "int8" where the spec wants them quantised, else the precision.

    Raises SpeechError("config_invalid"): the package quantises for CPUs only.
    """
    if not spec.options.get("quantize", False):
        return precision_of(spec.precision, device)
    if device != "cpu":
        raise SpeechError("config_invalid", where=f"[[models]] {spec.id}", name="pocket_tts.quantize",
                          expected='false, or the device "cpu"')
    return "int8"
