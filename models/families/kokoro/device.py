"""Where the network runs and how precisely. torch is only imported where there is a GPU to ask about."""
from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from models.errors import SpeechError

if TYPE_CHECKING:
    import torch

MAX_THREADS = 8
NVIDIA = ("/dev/nvidiactl", "/dev/dxg")  # a driver's device, on Linux and in WSL


def choose(device: str, precision: str) -> tuple[str, str]:
    """device: auto, cpu, cuda, cuda:N; precision: auto, float32, float16, bfloat16 -> where, and the type of the
    decoder's convolutions (all else is more precise). Raises SpeechError("config_invalid")."""
    where = device
    if device != "cpu":
        where = _cuda(device)
        if where is None and device != "auto":
            raise SpeechError("config_invalid", "device", where="kokoro", name="device",
                              expected={"en": "cpu or auto on this machine: it has no usable GPU",
                                        "zh": " cpu 或 auto：本机没有可用的 GPU"})
        where = where or "cpu"
    if precision != "auto":
        return where, precision
    if where != "cpu":
        return where, "float16"
    return where, "bfloat16" if cpu_has_bfloat16() else "float32"


def resolve(device: str, precision: str) -> tuple[torch.device, torch.dtype]:
    """The same as torch's own types."""
    import torch

    where, kind = choose(device, precision)
    return torch.device(where), getattr(torch, kind)


def _cuda(device: str) -> str | None:
    """As "cuda:N", or None where there is none."""
    if device == "auto" and not any(os.path.exists(path) for path in NVIDIA):
        return None
    import torch

    if not torch.cuda.is_available():
        return None
    index = torch.device(device).index if device.startswith("cuda") else None
    return f"cuda:{torch.cuda.current_device() if index is None else index}"


def threads() -> int:
    """Physical cores this process may use: a second thread on a core only takes from the first one's matrix unit."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, psutil.cpu_count(logical=False) or allowed, MAX_THREADS))


@lru_cache(maxsize=1)
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
