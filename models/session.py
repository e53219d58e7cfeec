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
from models.families.protocol import ModelSpec, Voice
from models.job import Job
from models.metrics import MetricsBook, RequestMetrics
from models.voices import saved
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

    here: whether its model is in this process.
    book: where the figures of requests are kept. watch, warm: see `Worker`; watch is also told which session it is.
    admit: begins to load the session for a request once there is room for it; raises SpeechError("no_room").
    """

    here = True

    def __init__(self, spec: ModelSpec, book: MetricsBook | None = None,
                 watch: Callable[[Session, str], None] = lambda session, line: None, warm: bool = True,
                 admit: Callable[[Session], None] = lambda session: session.start()):
        self.spec = spec
        self.deferred = False  # loaded by its next request, although its entry doesn't say lazy
        self.note: SpeechError | None = None  # why it is not loaded, or not as configured, if that is no failure
        self.successor: Session | None = None  # who took over, once this one was swapped or removed
        self.incoming: Session | None = None  # who gets ready to take over
        self.removed = False
        self._book = book or MetricsBook()
        self._admit = admit
        self._known: dict = {}
        self.worker = Worker(spec, lambda line: watch(self, line), warm)
        self.start, self.wait_ready, self.close = self.worker.start, self.worker.wait_ready, self.worker.close
        self.ask = self.worker.ask

    @property
    def state(self) -> str:
        return self.worker.state

    @property
    def lazy(self) -> bool:
        """Whether a request loads it when it isn't loaded."""
        return self.spec.lazy or self.deferred

    @property
    def saved_voices(self) -> str:
        """How it speaks in saved voices: in "fitted" ones and mixes of them, from the "clip" of any, or "" for not at all."""
        about = family(self.spec.family)
        if about.name == saved.FITTED:
            return "fitted"
        return "clip" if getattr(self.worker.loaded, "clones", about.clones) else ""

    @property
    def model(self):
        """The loaded model, for what may be asked from any thread (voices, languages). Raises SpeechError("not_ready")."""
        return self.worker.model

    def unload(self) -> bool:
        """Free the model and give its memory back; the next request loads it again. Returns when that is done.

        False, with nothing changed, when it isn't loaded or has a request queued, running or on its way.
        """
        if not self.worker.unload():
            return False
        self.deferred = True
        return True

    def retire(self, successor: Session | None = None) -> None:
        """End after the requests it has; new ones go to the successor, or are told that the model is gone."""
        self.successor, self.removed = successor, successor is None
        self.worker.retire()

    def submit(self, request: SpeechRequest, sink: Callable[[Event], None]) -> Job:
        """Check the request and queue it; its events go to `sink` on the worker thread, which must not block.

        The last event is Done or Failed. Raises SpeechError for a request that can't be served: the caller's faults,
        "queue_full", "not_ready", "session_failed" and "no_room". A lazy session is loaded first, on the request's
        time.
        """
        session = self
        while True:
            try:
                with session.worker.held():
                    session._be_loaded()
                    return session._submit(request, sink)
            except SpeechError as error:
                if error.code == "not_ready" and session.removed:
                    raise SpeechError("model_removed", "model", model=session.spec.id) from error
                if error.code != "not_ready" or session.successor is None:
                    raise
                session = session.successor

    def _be_loaded(self) -> None:
        if self.lazy and not self.worker.usable and self.state != "failed" and not self.successor and not self.removed:
            self._admit(self)
            self.wait_ready()

    def _submit(self, request: SpeechRequest, sink: Callable[[Event], None]) -> Job:
        request = replace(request, options=checked_controls(family(self.spec.family), self.spec.id, request.options))
        plan = self.model.plan(request)
        metrics = RequestMetrics(request.id, self.spec.id, plan.voice, plan.language, segments=len(plan.segments),
                                 arrived_at=time.time() - (time.monotonic() - request.arrived))

        def counted(event: Event) -> None:
            if isinstance(event, (Done, Failed)):
                self._book.ended(metrics)
            sink(event)

        job = Job(request, plan, metrics, counted, self.worker.notify)
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

    def catalog(self) -> dict:
        """Sample rate, languages and voices; as they were last when the model is not loaded, empty before that."""
        model = self.worker.loaded
        if self.state == "ready" and model is not None:
            self._known = {
                "sample_rate": model.sample_rate, "languages": list(model.languages),
                "voices": [_shown(voice) for voice in model.voices()],
                "default_voice": {language: model.default_voice(language) for language in model.languages},
            }
        return self._known or {"sample_rate": None, "languages": [], "voices": [], "default_voice": {}}

    def report(self, language: str = "en") -> dict:
        """State, times in seconds, memory in bytes, queue and caches, as the page and /api/pool show them."""
        worker, model = self.worker, self.worker.loaded
        waiting, running = worker.counts()
        told = worker.error or self.note
        return {
            "id": self.spec.id, "family": self.spec.family, "state": worker.state,
            "reason": told.sentence(language) if told else worker.reason, "lazy": self.lazy,
            "priority": self.spec.priority, "incoming": self.incoming.state if self.incoming else None,
            "load_seconds": worker.load_seconds, "warm_seconds": worker.warm_seconds,
            "memory_bytes": worker.memory_bytes, "queue": waiting, "running": running, "served": worker.served,
            "restarts": worker.restarts, "device": getattr(model, "device", self.spec.device),
            "precision": getattr(model, "precision", self.spec.precision),
            "caches": [slots.report() for slots in model.slots()] if model is not None else [],
        }


def _shown(voice: Voice) -> dict:
    """A voice as the API tells it: `name` in English, and `names` where it is another in each language."""
    names = voice.name
    return vars(voice) if isinstance(names, str) else {**vars(voice), "name": names["en"], "names": dict(names)}
