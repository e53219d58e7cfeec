"""Where and in which number format the model runs."""
from __future__ import annotations

from models.errors import SpeechError


def resolved_device(wish: str, model: str) -> str:
    """"cpu", or "cuda:N". Raises SpeechError("device_missing")."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if wish == "auto":
        return "cuda:0" if count else "cpu"
    if wish == "cpu":
        return "cpu"
    number = int(wish.partition(":")[2] or 0)
    if number >= count:
        raise SpeechError("device_missing", "device", model=model, device=wish)
    return f"cuda:{number}"


def resolved_precision(wish: str, device: str) -> str:
    """"auto" is float16 on CUDA, bfloat16 where the CPU multiplies it in hardware, else float32."""
    if wish != "auto":
        return wish
    if device.startswith("cuda"):
        return "float16"
    import torch

    fast = any(getattr(torch.cpu, name, lambda: False)() for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"))
    return "bfloat16" if fast else "float32"
