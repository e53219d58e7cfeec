"""Waiting in tests for what another thread or process brings about."""
from __future__ import annotations

import time
from collections.abc import Callable


def until(true: Callable[[], object], seconds: float = 15.0) -> None:
    """Returns once `true()` is. Raises AssertionError after so many seconds."""
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "did not happen in time"
        time.sleep(0.005)
