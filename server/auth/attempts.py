"""How often a password may be tried."""
from __future__ import annotations

import time
from collections import OrderedDict

FREE = 5  # wrong ones in a row that cost nothing
FIRST_WAIT, LONGEST_WAIT = 4.0, 900.0  # seconds after the next one, doubled with each more
ADDRESSES = 10_000  # remembered; whoever has more than that is kept out by the limit for all
ALL, ALL_SPAN = 60, 60.0  # wrong ones from everywhere in so many seconds


class Attempts:
    """Wrong passwords by address, and from everywhere."""

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()  # address -> how many, when the last
        self._recent: list[float] = []

    def wait(self, address: str, now: float | None = None) -> float:
        """Seconds until this address may try again, 0 for now."""
        now = time.monotonic() if now is None else now
        count, last = self._wrong.get(address, (0, 0.0))
        own = last + min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(count - FREE, 10)) - now if count >= FREE else 0.0
        self._recent = [when for when in self._recent if when > now - ALL_SPAN]
        everyone = self._recent[-ALL] + ALL_SPAN - now if len(self._recent) >= ALL else 0.0
        return max(0.0, own, everyone)

    def failed(self, address: str, now: float | None = None) -> None:
        now = time.monotonic() if now is None else now
        self._wrong[address] = (self._wrong.pop(address, (0, 0.0))[0] + 1, now)
        while len(self._wrong) > ADDRESSES:
            self._wrong.popitem(last=False)
        self._recent.append(now)

    def succeeded(self, address: str) -> None:
        self._wrong.pop(address, None)
