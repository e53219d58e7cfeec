"""How much memory this process holds."""
from __future__ import annotations

import psutil


def resident_bytes() -> int:
    """Resident set size of this process, in bytes."""
    return psutil.Process().memory_info().rss
