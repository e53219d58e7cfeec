"""Where the network runs and how precisely, and on how many threads."""
from __future__ import annotations

import os

import psutil

from models.families.device import device_of, precision_of

MAX_THREADS = 8


def choose(device: str, precision: str) -> tuple[str, str]:
    """device: auto, cpu, cuda, cuda:N; precision: auto, float32, float16, bfloat16 -> where, and the type of the
    decoder's convolutions (all else is more precise). Raises SpeechError("device_missing")."""
    where = device_of(device, "kokoro")
    return where, precision_of(precision, where)


def threads() -> int:
    """Physical cores this process may use: a second thread on a core only takes from the first one's matrix unit."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, psutil.cpu_count(logical=False) or allowed, MAX_THREADS))
