"""Where the network runs and how precisely."""
from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import torch

from models.errors import SpeechError

TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def resolve(device: str, precision: str) -> tuple[torch.device, torch.dtype]:
    """device: auto, cpu, cuda, cuda:N; precision: auto, float32, float16, bfloat16 -> where, and the type of the
    decoder's convolutions (all else is float32). Raises SpeechError("config_invalid")."""
    where = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)
    if where.type == "cuda" and not torch.cuda.is_available():
        raise SpeechError("config_invalid", "device", where="kokoro", name="device",
                          expected={"en": "cpu or auto on this machine: it has no usable GPU",
                                    "zh": " cpu 或 auto：本机没有可用的 GPU"})
    if where.type == "cuda" and where.index is None:
        where = torch.device("cuda", torch.cuda.current_device())
    if precision != "auto":
        return where, TYPES[precision]
    if where.type == "cuda":
        return where, torch.float16
    return where, torch.bfloat16 if cpu_has_bfloat16() else torch.float32


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
