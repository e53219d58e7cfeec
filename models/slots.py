"""A bounded LRU cache that counts: what every session cache is made of."""
from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Slots(Generic[T]):
    """Least recently used entries leave first.

    name: as reported ("style_cache"). capacity: entries kept, 0 keeps none. size_of: bytes of a value, for the report.
    Keys must be content (see `models.voices`), never paths or names of things that can change. Thread-safe; two
    threads missing the same key at once may both compute it, the first one's value is kept.
    """

    def __init__(self, name: str, capacity: int, size_of: Callable[[T], int] = lambda value: 0):
        self.name, self.capacity = name, capacity
        self._size_of = size_of
        self._entries: OrderedDict[object, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = self.misses = self.evictions = self.bytes = 0

    def get(self, key: object, make: Callable[[], T]) -> tuple[T, bool]:
        """The value under `key`, made by `make()` on a miss; and whether it was a hit."""
        with self._lock:
            if key in self._entries:
                self.hits += 1
                self._entries.move_to_end(key)
                return self._entries[key][0], True
            self.misses += 1
        value = make()
        with self._lock:
            if key in self._entries:
                return self._entries[key][0], False
            if self.capacity > 0:
                size = self._size_of(value)
                self._entries[key] = (value, size)
                self.bytes += size
                while len(self._entries) > self.capacity:
                    _, (_, gone) = self._entries.popitem(last=False)
                    self.bytes -= gone
                    self.evictions += 1
        return value, False

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.bytes = 0

    def report(self) -> dict:
        with self._lock:
            return {
                "name": self.name, "capacity": self.capacity, "entries": len(self._entries), "hits": self.hits,
                "misses": self.misses, "evictions": self.evictions, "bytes": self.bytes,
            }
