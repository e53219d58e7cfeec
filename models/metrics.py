"""The figures of a request: the same numbers for page, API and logs."""
from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from models.errors import SpeechError

log = logging.getLogger("readyvoice.requests")


@dataclass
class RequestMetrics:
    """All times in seconds. TTFA and queue_wait count from the request's arrival at the edge.

    arrived_at: seconds since the epoch. rtf: compute / audio_seconds, compute being worker time only (no waiting for other requests).
    caches: per cache "hit" or "miss" as this request met it.
    """

    id: str
    model: str
    voice: str = ""
    language: str = ""
    arrived_at: float = 0.0
    state: str = "queued"  # queued, running, done, failed, cancelled
    queue_wait: float | None = None
    voice_prepare: float | None = None
    ttfa: float | None = None
    compute: float = 0.0
    audio_seconds: float = 0.0
    total: float | None = None
    segments: int = 0
    segments_done: int = 0
    caches: dict[str, str] = field(default_factory=dict)
    error: dict | None = None

    @property
    def rtf(self) -> float | None:
        return self.compute / self.audio_seconds if self.audio_seconds else None

    def failed(self, error: SpeechError) -> None:
        """The request ended by `error`."""
        self.state = "cancelled" if error.code == "cancelled" else "failed"
        self.error = {"code": error.code, "field": error.field, "message": error.sentence(),
                      "messages": {"zh": error.sentence("zh")}}

    def report(self) -> dict:
        return {**asdict(self), "rtf": self.rtf}


class MetricsBook:
    """The last `capacity` requests by id, oldest forgotten first. Safe from any thread.

    observers: each told of every request that has ended, on its session's thread; they must not block.
    """

    def __init__(self, capacity: int = 2000):
        self._capacity = capacity
        self.observers: list[Callable[[RequestMetrics], None]] = []
        self._entries: OrderedDict[str, RequestMetrics] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, metrics: RequestMetrics) -> None:
        with self._lock:
            self._entries[metrics.id] = metrics
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)

    def get(self, request_id: str) -> RequestMetrics | None:
        with self._lock:
            return self._entries.get(request_id)

    def ended(self, metrics: RequestMetrics) -> None:
        """Tell the observers. One that fails is logged: it is no reason for a session to end."""
        for observe in self.observers:
            try:
                observe(metrics)
            except Exception:
                log.exception("request %s could not be counted", metrics.id)

    def forget(self, metrics: RequestMetrics) -> None:
        """Take back an entry whose request was refused after all."""
        with self._lock:
            self._entries.pop(metrics.id, None)
