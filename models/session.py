"""A session: one loaded model, the thread that owns it, and the requests that wait for it."""
from __future__ import annotations

import gc
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from models.errors import SpeechError
from models.events import AudioChunk, Done, Event, Failed, SpeechRequest, Started, WordTiming
from models.families import family
from models.families.protocol import Model, ModelSpec
from models.job import FairOrder, Job
from models.memory import resident_bytes
from models.metrics import MetricsBook, RequestMetrics

log = logging.getLogger("readyvoice.session")
HEALTHY_AFTER = 600.0  # seconds of service after which a session may be restarted once more
FAILURES_IN_A_ROW = 3  # unexpected errors after which the model is taken to be broken
STATES = ("registered", "loading", "warming", "ready", "failed", "unloaded")

Result = TypeVar("Result")
Watch = Callable[["Session", str], None]


@dataclass
class Speech:
    """A collected stream: float32 mono samples at sample_rate Hz, word timings, and the request's metrics."""

    samples: np.ndarray
    sample_rate: int
    words: list[WordTiming]
    metrics: RequestMetrics


class Session:
    """Lives as long as the process. Only its worker thread touches the model.

    watch: told on the worker thread when the state changes or a warm-up stage is over, with a line on what happened.
    """

    def __init__(self, spec: ModelSpec, book: MetricsBook | None = None, watch: Watch = lambda session, line: None):
        self.spec = spec
        self.state, self.reason = "registered", ""
        self.load_seconds = self.warm_seconds = None
        self.memory_bytes = 0
        self.served = self.restarts = 0
        self._book = book or MetricsBook()
        self._watch = watch
        self._model: Model | None = None
        self._jobs: list[Job] = []
        self._order = FairOrder()
        self._asked: deque[tuple[Callable[[Model], object], Future]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._worker: threading.Thread | None = None
        self._ready_since = 0.0
        self._failures = 0

    # -- life

    def start(self) -> None:
        """Begin to load and warm on the session's own thread; returns at once. Harmless when it already has."""
        with self._changed:
            if self._worker is None and not self._closing:
                self._state("loading")
                self._begin()

    def wait_ready(self, timeout: float | None = None) -> None:
        """Until ready. Raises SpeechError("session_failed" or "not_ready") when that does not come."""
        with self._changed:
            self._changed.wait_for(lambda: self.state not in ("loading", "warming"), timeout)
        self._must_be_ready()

    def close(self, timeout: float = 10.0) -> None:
        """End all requests (each is told so), unload the model and stop the thread."""
        with self._changed:
            self._closing = True
            for job in self._jobs:
                job.cancel()
            self._changed.notify_all()
            worker = self._worker
        if worker is not None and worker is not threading.current_thread():
            worker.join(timeout)

    # -- requests, from any thread

    @property
    def model(self) -> Model:
        """The loaded model, for what may be asked from any thread (voices, languages). Raises SpeechError("not_ready")."""
        model = self._model
        if model is None or self.state != "ready":
            self._must_be_ready()
        return model

    def submit(self, request: SpeechRequest, sink: Callable[[Event], None]) -> Job:
        """Check the request and queue it; its events go to `sink` on the worker thread, which must not block.

        The last event is Done or Failed. Raises SpeechError for a request that can't be served: the caller's faults,
        "queue_full", "not_ready" and "session_failed". A lazy session is loaded first, on the request's time.
        """
        if self.spec.lazy and self.state == "registered":
            self.start()
            self.wait_ready()
        plan = self.model.plan(request)
        metrics = RequestMetrics(request.id, self.spec.id, plan.voice, plan.language, segments=len(plan.segments))
        job = Job(request, plan, metrics, sink, self._notify)
        with self._changed:
            if self._closing or self.state != "ready":
                self._must_be_ready()
            if len(self._jobs) >= self.spec.queue_limit:
                raise SpeechError("queue_full", model=self.spec.id, length=len(self._jobs))
            self._book.add(metrics)
            job.queued(len(self._jobs))
            self._jobs.append(job)
            self._changed.notify_all()
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

    def ask(self, work: Callable[[Model], Result], timeout: float | None = None) -> Result:
        """Run `work(model)` on the worker thread, between two segments, and return what it returns (or raise it)."""
        asked: Future[Result] = Future()
        with self._changed:
            self._must_be_ready()
            self._asked.append((work, asked))
            self._changed.notify_all()
        return asked.result(timeout)

    def report(self) -> dict:
        """State, times in seconds, memory in bytes, queue and caches, as the page and /api/pool show them."""
        with self._changed:
            running = sum(job.next > 0 for job in self._jobs)
            waiting = len(self._jobs) - running
        model = self._model
        return {
            "id": self.spec.id, "family": self.spec.family, "state": self.state, "reason": self.reason,
            "lazy": self.spec.lazy, "load_seconds": self.load_seconds, "warm_seconds": self.warm_seconds,
            "memory_bytes": self.memory_bytes, "queue": waiting, "running": running, "served": self.served,
            "restarts": self.restarts, "device": getattr(model, "device", self.spec.device),
            "precision": getattr(model, "precision", self.spec.precision),
            "caches": [slots.report() for slots in model.slots()] if model is not None else [],
        }

    # -- the worker thread

    def _begin(self) -> None:
        self._worker = threading.Thread(target=self._live, name=f"session-{self.spec.id}", daemon=True)
        self._worker.start()

    def _live(self) -> None:
        try:
            self._prepare()
            self._serve()
        except BaseException as error:  # nothing may end a session unseen
            self._die(error)
        else:
            self._release("unloaded")

    def _prepare(self) -> None:
        before, began = resident_bytes(), time.monotonic()
        self._model = family(self.spec.family).create(self.spec)
        self._model.load(lambda line: self._watch(self, line))
        self.load_seconds = time.monotonic() - began
        self._state("warming")
        began = time.monotonic()
        for stage in self._model.warm():
            self._watch(self, stage)
        self.warm_seconds = time.monotonic() - began
        gc.collect()
        self.memory_bytes = max(0, resident_bytes() - before)
        self._ready_since, self._failures = time.monotonic(), 0
        self._state("ready")

    def _serve(self) -> None:
        while not self._closing:
            with self._changed:
                for job in [job for job in self._jobs if job.why_end()]:
                    self._finish(job, job.why_end())
                asked = self._asked.popleft() if self._asked else None
                job = None if asked else self._order.choose(self._jobs)
                if job is None and asked is None:
                    self._changed.wait(self._until_next_deadline())
                    continue
            if asked is not None:
                self._answer(*asked)
            else:
                self._speak(job)

    def _answer(self, work: Callable[[Model], object], asked: Future) -> None:
        if asked.set_running_or_notify_cancel():
            try:
                asked.set_result(work(self._model))
            except Exception as error:
                asked.set_exception(error)

    def _until_next_deadline(self) -> float | None:
        ends = [job.ends_at for job in self._jobs if job.ends_at is not None]
        return max(0.0, min(ends) - time.monotonic()) + 0.01 if ends else None

    def _speak(self, job: Job) -> None:
        """One segment of one request."""
        if job.next == 0:
            job.started(self._model.sample_rate)
        pieces = self._model.speak(job.plan.segments[job.next], job.plan, job.request, job.turn)
        error = None
        try:
            began = time.monotonic()
            for piece in pieces:
                job.metrics.compute += time.monotonic() - began
                if error := job.why_end():
                    break
                if isinstance(piece, WordTiming):
                    job.word(piece)
                elif len(piece):
                    job.audio(piece, len(piece) / self._model.sample_rate)
                began = time.monotonic()
            else:
                job.metrics.compute += time.monotonic() - began
                error = job.why_end()
            self._failures = 0
        except SpeechError as refused:
            error = refused
        except Exception as broken:
            log.exception("request %s: %s could not speak %r", job.request.id, self.spec.id, job.plan.segments[job.next])
            error = SpeechError("internal", model=self.spec.id, reason=type(broken).__name__, id=job.request.id)
            self._failures += 1
        finally:
            pieces.close()
        if self._failures >= FAILURES_IN_A_ROW:
            raise RuntimeError(f"{FAILURES_IN_A_ROW} requests in a row broke the model")
        job.next += 1
        job.metrics.segments_done = job.next
        if error is None and job.next == len(job.plan.segments):
            error = None if job.metrics.audio_seconds else SpeechError("text_unspeakable", "text", what="…")
            self._finish(job, error)
        elif error is not None:
            self._finish(job, error)

    def _finish(self, job: Job, error: SpeechError | None) -> None:
        with self._changed:
            self._jobs.remove(job)
            self.served += 1
        if error is None:
            job.done()
        else:
            job.failed(error)

    def _die(self, error: BaseException) -> None:
        """Tell everyone who waits, give the memory back, and start over once."""
        log.error("session %s died", self.spec.id, exc_info=error)
        was_ready = self.state == "ready"
        self._release("failed", error.sentence() if isinstance(error, SpeechError) else f"{type(error).__name__}: {error}")
        if was_ready and not self._closing:
            if time.monotonic() - self._ready_since > HEALTHY_AFTER:
                self.restarts = 0
            if self.restarts < 1:
                self.restarts += 1
                self._state("loading")
                self._begin()

    def _release(self, state: str, reason: str = "") -> None:
        with self._changed:
            jobs, self._jobs = self._jobs, []
            unanswered, self._asked = self._asked, deque()
            model, self._model = self._model, None
        for job in jobs:
            job.failed(SpeechError("cancelled") if self._closing else SpeechError("session_died", model=self.spec.id))
        for _, asked in unanswered:
            asked.set_exception(SpeechError("session_died", model=self.spec.id))
        if model is not None:
            try:
                model.unload()
            except Exception:
                log.exception("session %s could not unload", self.spec.id)
        del model
        gc.collect()
        self.memory_bytes = 0
        self._state(state, reason)

    def _state(self, state: str, reason: str = "") -> None:
        with self._changed:
            self.state, self.reason = state, reason
            self._changed.notify_all()
        self._watch(self, state)

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _must_be_ready(self) -> None:
        if self.state == "failed":
            raise SpeechError("session_failed", model=self.spec.id, reason=self.reason)
        if self.state != "ready" or self._closing:
            raise SpeechError("not_ready", model=self.spec.id, state=self.state)
