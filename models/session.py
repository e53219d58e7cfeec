"""A session: one loaded model and everything that can be asked of it. It lives as long as the process."""
from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from models.errors import SpeechError
from models.events import AudioChunk, Done, Event, Failed, SpeechRequest, Started, WordTiming
from models.families import family
from models.families.options import checked_controls
from models.families.protocol import ModelSpec
from models.job import Job
from models.metrics import MetricsBook, RequestMetrics
from models.worker import Worker


@dataclass
class Speech:
    """A collected stream: float32 mono samples at sample_rate Hz, word timings, and the request's metrics."""

    samples: np.ndarray
    sample_rate: int
    words: list[WordTiming]
    metrics: RequestMetrics


class Session:
    """Requests for one model. Everything here may be called from any thread; the worker does the work.

    book: where the figures of requests are kept. watch, warm: see `Worker`; watch is also told which session it is.
    """

    def __init__(self, spec: ModelSpec, book: MetricsBook | None = None,
                 watch: Callable[[Session, str], None] = lambda session, line: None, warm: bool = True):
        self.spec = spec
        self._book = book or MetricsBook()
        self.worker = Worker(spec, lambda line: watch(self, line), warm)
        self.start, self.wait_ready, self.close = self.worker.start, self.worker.wait_ready, self.worker.close
        self.ask = self.worker.ask

    @property
    def state(self) -> str:
        return self.worker.state

    @property
    def model(self):
        """The loaded model, for what may be asked from any thread (voices, languages). Raises SpeechError("not_ready")."""
        return self.worker.model

    def submit(self, request: SpeechRequest, sink: Callable[[Event], None]) -> Job:
        """Check the request and queue it; its events go to `sink` on the worker thread, which must not block.

        The last event is Done or Failed. Raises SpeechError for a request that can't be served: the caller's faults,
        "queue_full", "not_ready" and "session_failed". A lazy session is loaded first, on the request's time.
        """
        if self.spec.lazy and self.state in ("registered", "loading", "warming"):
            self.start()
            self.wait_ready()
        request = replace(request, options=checked_controls(family(self.spec.family), self.spec.id, request.options))
        plan = self.model.plan(request)
        metrics = RequestMetrics(request.id, self.spec.id, plan.voice, plan.language, segments=len(plan.segments),
                                 arrived_at=time.time() - (time.monotonic() - request.arrived))
        job = Job(request, plan, metrics, sink, self.worker.notify)
        self._book.add(metrics)
        try:
            self.worker.enqueue(job)
        except SpeechError:
            self._book.forget(metrics)
            raise
        return job

    def stream(self, request: SpeechRequest, cancel: threading.Event | None = None) -> Iterator[Event]:
        """The request's events as they come. Closing the iterator, or setting `cancel`, ends the work."""
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        job = self.submit(request, events.put)
        rate = 0
        try:
            while True:
                if cancel is not None and cancel.is_set():
                    job.cancel()
                try:
                    event = events.get(timeout=0.05 if cancel is not None else None)
                except queue.Empty:
                    continue
                match event:
                    case Started(sample_rate=rate):
                        pass
                    case AudioChunk(samples=samples):
                        job.taken(len(samples) / rate)
                yield event
                if isinstance(event, (Done, Failed)):
                    return
        finally:
            job.cancel()

    def run(self, request: SpeechRequest) -> Speech:
        """The whole answer at once: a collected stream. Raises the SpeechError that ended it, if one did."""
        chunks, words, rate = [], [], 0
        for event in self.stream(request):
            match event:
                case Started(sample_rate=rate):
                    pass
                case AudioChunk(samples=samples):
                    chunks.append(samples)
                case WordTiming():
                    words.append(event)
                case Failed(error=error):
                    raise error
                case Done(metrics=metrics):
                    return Speech(np.concatenate(chunks), rate, words, metrics)
        raise AssertionError("a stream ends with Done or Failed")

    def report(self) -> dict:
        """State, times in seconds, memory in bytes, queue and caches, as the page and /api/pool show them."""
        worker, model = self.worker, self.worker.loaded
        waiting, running = worker.counts()
        return {
            "id": self.spec.id, "family": self.spec.family, "state": worker.state, "reason": worker.reason,
            "lazy": self.spec.lazy, "load_seconds": worker.load_seconds, "warm_seconds": worker.warm_seconds,
            "memory_bytes": worker.memory_bytes, "queue": waiting, "running": running, "served": worker.served,
            "restarts": worker.restarts, "device": getattr(model, "device", self.spec.device),
            "precision": getattr(model, "precision", self.spec.precision),
            "caches": [slots.report() for slots in model.slots()] if model is not None else [],
        }
