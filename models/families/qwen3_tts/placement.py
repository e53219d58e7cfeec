"""Where the model runs and in which number format."""
from __future__ import annotations

from models.errors import SpeechError


def resolved_device(wish: str, model: str) -> str:
    """"cpu" or "cuda:N" for "auto", "cpu", "cuda" or "cuda:N". Raises SpeechError("device_missing")."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if wish == "cpu" or (wish == "auto" and not count):
        return "cpu"
    number = 0 if wish == "auto" else int(wish.partition(":")[2] or 0)
    if number >= count:
        raise SpeechError("device_missing", "device", model=model, device=wish)
    return f"cuda:{number}"


def resolved_precision(wish: str, device: str) -> str:
    """"auto" is bfloat16, as the model card has it, where the hardware multiplies it; else float16 on CUDA and float32
    on a CPU."""
    import torch

    if wish != "auto":
        return wish
    if device != "cpu":
        return "bfloat16" if torch.cuda.get_device_capability(device) >= (8, 0) else "float16"
    fast = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()
    return "bfloat16" if fast else "float32"
