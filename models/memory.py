"""How much memory this process holds, and giving back what it no longer needs."""
from __future__ import annotations

import ctypes
import gc

import psutil


def few_arenas() -> None:
    """Keep glibc to two allocation arenas: with one a thread, what each thread frees stays with it and memory grows."""
    try:
        ctypes.CDLL(None).mallopt(-8, 2)  # M_ARENA_MAX
    except (OSError, AttributeError):
        pass  # not glibc


def resident_bytes() -> int:
    """Resident set size of this process, in bytes."""
    return psutil.Process().memory_info().rss


def give_back() -> None:
    """Collect garbage and return freed memory to the system: glibc keeps it otherwise, 150 MB after one Piper voice."""
    gc.collect()
    trim()


def trim() -> None:
    """Return freed memory to the system; a few milliseconds."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        pass  # not glibc
