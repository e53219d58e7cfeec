"""What one user, and one address, may ask for: requests a minute, characters an hour, and how much at a time.

A user is a key, or a browser by its cookie, or else the address. Cookies can be thrown away, so the address has limits
too: as many times a user's as `[limits] users_per_address` says, which is a class behind one router.
"""
from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.requests import HTTPConnection, Request

from models.config import LimitsConfig
from models.errors import SpeechError
from server.network import network_of
from server.owner import LOCAL, NOBODY, OPERATOR, owner_of


class Place:
    """What an admitted request holds until it `leave`s; leaving twice is leaving once."""

    def __init__(self, held: Counter[str], keys: tuple[str, ...]):
        self._held, self._keys = held, keys
        held.update(keys)

    def leave(self) -> None:
        for key in self._keys:
            self._held[key] -= 1
            if self._held[key] <= 0:
                del self._held[key]
        self._keys = ()


class Limits:
    """On the event loop alone. config: the limits as they are now; None for none."""

    def __init__(self, config: Callable[[], LimitsConfig | None]):
        self._config = config
        self._counts = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._held: Counter[str] = Counter()

    def admit(self, caller: HTTPConnection, characters: int = 0) -> Place:
        """Count a request for so many characters, which is at work until its place is left.

        Raises SpeechError limit_at_once, limit_requests or limit_characters; then nothing has been counted.
        """
        limits, user = self._config(), user_of(caller)
        if limits is None or user == OPERATOR:  # who holds this machine's own key has none
            return Place(self._held, ())
        wanted = []
        keys = {f"user {user}": 1, f"address {network_of(caller)}": limits.users_per_address}
        for key, times in keys.items():
            if limits.at_once and self._held[key] >= limits.at_once * times:
                raise SpeechError("limit_at_once", limit=limits.at_once * times)
            if limits.requests:
                wanted.append((RateLimitItemPerMinute(limits.requests * times), key, 1, "limit_requests"))
            if limits.characters and characters:
                wanted.append((RateLimitItemPerHour(limits.characters * times), key, characters, "limit_characters"))
        for item, key, cost, code in wanted:
            self._check(item, key, cost, code)
        for item, key, cost, _ in wanted:
            self._counts.hit(item, key, cost=cost)
        return Place(self._held, tuple(keys))

    async def counted(self, request: Request) -> AsyncIterator[None]:
        """A FastAPI dependency of routes whose work is done once they have answered."""
        place = self.admit(request)
        try:
            yield
        finally:
            place.leave()

    def _check(self, item: RateLimitItem, key: str, cost: int, code: str) -> None:
        if self._counts.test(item, key, cost=cost):
            return
        wait = max(1, math.ceil(self._counts.get_window_stats(item, key).reset_time - time.time()))
        raise SpeechError(code, "text" if code == "limit_characters" else None, limit=item.amount, retry=wait)


def user_of(caller: HTTPConnection) -> str:
    """The key or the browser, as it owns voices, or else the address."""
    owner = owner_of(caller)
    return network_of(caller) if owner in (NOBODY, LOCAL) else owner
