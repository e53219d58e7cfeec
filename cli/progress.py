"""Numbered steps with a progress line each, timed."""
from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

TOTAL = 6


class Steps:
    """Prints `[n/6] what … detail (seconds)`. Lines may come from several threads.

    quiet: only failures and the last step are printed (for `say`).
    """

    def __init__(self, quiet: bool = False):
        self._quiet = quiet
        self._lock = threading.Lock()

    def line(self, number: int, text: str, always: bool = False) -> None:
        if self._quiet and not always:
            return
        with self._lock, suppress(OSError):  # the terminal may be gone
            print(f"[{number}/{TOTAL}] {text}", file=sys.stderr if self._quiet else sys.stdout, flush=True)

    @contextmanager
    def step(self, number: int, what: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.line(number, f"{what} ({time.monotonic() - began:.1f} s)")


def since_start() -> float:
    """Seconds since start.sh began (it leaves the time in READYVOICE_STARTED), else since this process did."""
    try:
        return time.time() - float(os.environ["READYVOICE_STARTED"])
    except (KeyError, ValueError):
        import psutil
        return time.time() - psutil.Process().create_time()
