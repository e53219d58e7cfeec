"""Where a network runs and in which number format. torch is only imported where there may be a GPU to ask about."""
from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path

from models.errors import SpeechError

NVIDIA = ("/dev/nvidiactl", "/dev/dxg", "/dev/nvmap")  # a driver's device: on Linux, in WSL, on a Jetson


def device_of(wish: str, model: str) -> str:
    """"cpu" or "cuda:N" for "auto", "cpu", "cuda" or "cuda:N". Raises SpeechError("device_missing")."""
    if wish == "cpu" or (wish == "auto" and not _maybe_cuda()):
        return "cpu"
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if wish == "auto" and not count:
        return "cpu"
    number = torch.device(wish).index if wish != "auto" else None
    if count and number is None:
        number = torch.cuda.current_device()
    if number is None or number >= count:
        raise SpeechError("device_missing", "device", model=model, device=wish)
    return f"cuda:{number}"


def onnx_device_of(wish: str, model: str) -> str:
    """The same by what this build of onnxruntime can do; which GPUs there are it finds when it loads."""
    import onnxruntime

    able = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
    if wish == "cpu" or (wish == "auto" and not able):
        return "cpu"
    if not able:
        raise SpeechError("device_missing", "device", model=model, device=wish)
    return f"cuda:{int(wish.partition(':')[2] or 0)}"


def precision_of(wish: str, device: str, on_cuda: str = "float16") -> str:
    """"auto" is `on_cuda` on a GPU (float16 where that is bfloat16 and the GPU does not multiply in it), bfloat16 on a
    CPU that multiplies in it, else float32."""
    if wish != "auto":
        return wish
    if device == "cpu":
        return "bfloat16" if cpu_has_bfloat16() else "float32"
    if on_cuda == "bfloat16":
        import torch

        return on_cuda if torch.cuda.get_device_capability(device) >= (8, 0) else "float16"
    return on_cuda


def _maybe_cuda() -> bool:
    return "torch" in sys.modules or any(os.path.exists(path) for path in NVIDIA)


def cpu_has_bfloat16() -> bool:
    """AMX or AVX512-BF16: without them bfloat16 is emulated and slower than float32."""
    return bool(cpu_flags() & {"amx_bf16", "avx512_bf16"})


@lru_cache(maxsize=1)
def cpu_flags() -> frozenset[str]:
    """The CPU's features as Linux names them; empty where there is no /proc/cpuinfo."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())
