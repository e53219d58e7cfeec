"""What the thread that owns a model does once it is warm: nobody else touches the model."""
from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar

from models.errors import SpeechError
from models.families.protocol import Model, ModelSpec
from models.gaps import Gap
from models.job import FairOrder, Job, next_deadline
from models.memory import trim
from models.speaking import answer, speak_next
from models.thread import Carried

log = logging.getLogger("readyvoice.session")
FAILURES_IN_A_ROW = 3  # unexpected errors after which the model is taken to be broken
STEP_ASIDE = 0.012  # seconds between a request's first segment and its second
TRIM_EVERY = 10  # requests after which an idle session returns freed memory to the system

Result = TypeVar("Result")


class Worker(Carried):
    """A model's queue, and the work on it. Public methods may be called from any thread; watch, warm: see `Carried`."""

    def __init__(self, spec: ModelSpec, watch: Callable[[str], None], warm: bool = True):
        super().__init__(spec, watch, warm)
        self.served = 0
        self._jobs: list[Job] = []
        self._asked: deque[tuple[Callable[[Model], object], Future]] = deque()
        self._order = FairOrder()
        self._failures = self._trimmed_at = 0
        self._held = 0  # requests on their way into the queue
        self._gap = Gap(self._fill_gap)
        self._speaking: Job | None = None  # whose segment the gap is in
        self._at_work: tuple[float, Job | Future] | None = None  # since when on what: a segment, or what was asked
        self.used_at = time.monotonic()  # when a request last came or ended

    # -- from any thread

    def start(self) -> None:
        """Begin to load and warm, at first or after an unload; returns at once. Harmless when it already has."""
        with self._changed:
            self._changed.wait_for(lambda: not self._leaving)  # the old model must be gone first
            if self.state in ("registered", "unloaded") and not self._closing and not self._retired:
                self._become("loading")
                self._begin()

    def enqueue(self, job: Job) -> None:
        """Raises SpeechError("queue_full"), and as `must_be_ready`."""
        with self._changed:
            self.must_be_ready()
            if len(self._jobs) >= self.spec.queue_limit:
                raise SpeechError("queue_full", model=self.spec.id, length=len(self._jobs))
            job.queued(len(self._jobs))
            self._jobs.append(job)
            self.used_at = time.monotonic()
            self.notify()

    def ask(self, work: Callable[[Model], Result], timeout: float | None = None) -> Result:
        """Run `work(model)` on the worker thread, between two segments, and return what it returns (or raise it)."""
        asked: Future[Result] = Future()
        with self._changed:
            self.must_be_ready()
            self._asked.append((work, asked))
            self._changed.notify_all()
        return asked.result(timeout)

    def counts(self) -> tuple[int, int]:
        """How many requests wait for their first sound, and how many are being spoken."""
        with self._changed:
            running = sum(job.metrics.state == "running" for job in self._jobs)
            return len(self._jobs) - running, running

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this lasts a request is on its way here: `unload` leaves the model alone."""
        with self._changed:
            self._held += 1
        try:
            yield
        finally:
            with self._changed:
                self._held -= 1

    @property
    def idle(self) -> bool:
        """Ready, with nothing queued, running or on its way."""
        with self._changed:
            return self.usable and not (self._jobs or self._asked or self._held)

    def unload(self, timeout: float | None = None) -> bool:
        """Free an idle model on its thread and return when its memory is back with the system; `start` loads it again.
        False, with nothing changed, when it isn't loaded, has something to do or a request on its way."""
        with self._changed:
            if not self.idle:
                return False
            self._leaving = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._leaving, timeout)
            return True

    def retire(self) -> None:
        """Take no new request; once those it has are over the model is freed, for good. Returns at once."""
        with self._changed:
            self._retired = True
            if self._thread is None or not self._thread.is_alive():
                self.state = "unloaded"
            self._changed.notify_all()

    def notify(self) -> None:
        """A job came or something about one changed: look again, even in the middle of a segment."""
        with self._changed:
            self._gap.wanted.value = 1
            self._changed.notify_all()

    @property
    def sign(self) -> tuple[float, float] | None:
        """Something else after every sign of life from the work in hand; None without any."""
        at_work = self._at_work
        return at_work and (at_work[0], getattr(at_work[1], "active_at", 0.0))

    def abandon(self, error: SpeechError) -> None:
        """Leave the thread, which hangs, to itself: everyone who waits is told `error`, and the session starts over as
        after its death. What the thread holds is freed if it ever comes back."""
        with self._changed:
            if self._at_work is None:
                return
            _, hung = self._at_work
            self._thread, self._at_work, self._speaking = None, None, None
            self._gap = Gap(self._fill_gap)
        log.error("session %s: %s", self.spec.id, error)
        if isinstance(hung, Future) and not hung.done():
            hung.set_exception(error)
        self._start_over(error, hangs=True)

    def close(self, timeout: float = 10.0) -> None:
        """End all requests (each is told so), unload the model and stop the thread."""
        self.end()
        self.wait_ended(timeout)

    def end(self) -> None:
        """The same without waiting for it."""
        with self._changed:
            self._closing = True
            for job in self._jobs:
                job.cancel()
            self.notify()

    # -- the worker thread

    def _over(self) -> bool:
        return self._closing or self._leaving or (self._retired and not self._jobs and not self._asked)

    def _step(self) -> None:
        """Wait for something to do and do one piece of it."""
        with self._changed:
            self._gap.wanted.value = 0
            self._end_those_over()
            if not self._asked and (job := self._order.choose(self._jobs)) is None:
                if not self._jobs and self.served >= self._trimmed_at + TRIM_EVERY:
                    self._trimmed_at = self.served
                    trim()
                if not self._over():
                    self._changed.wait(next_deadline(self._jobs))
                return
            asked = self._asked.popleft() if self._asked else None
        if asked is not None:
            with self._working(asked[1]):
                answer(self._model, *asked)
            return
        if job.next > 0:
            self._speaking, job.turn.gap = job, self._gap
        self._speak(job)
        self._speaking = None
        if job.next == 1 and job.metrics.audio_seconds > 1:
            self._step_aside(job)
        if self._broken:
            raise RuntimeError(f"{FAILURES_IN_A_ROW} requests in a row broke the model")

    def _step_aside(self, job: Job) -> None:
        """A core for those who carry its first sound to the listener, while that lasts and nobody else waits."""
        with self._changed:
            if self._jobs == [job] and not self._asked:
                self._changed.wait(STEP_ASIDE)

    def _end_those_over(self) -> None:
        for job in [job for job in self._jobs if job is not self._speaking]:
            if why := job.why_end():
                self._finish(job, why)

    def _fill_gap(self) -> None:
        """In the middle of a segment: the first ones of requests that came meanwhile, if they may come first."""
        self._still_wanted()
        current, began = self._speaking, time.monotonic()
        while True:
            with self._changed:
                self._gap.wanted.value = 0
                if self._broken:
                    raise SpeechError("session_died", model=self.spec.id)
                if why := current.why_end():
                    raise why
                self._end_those_over()
                job = self._order.choose(self._jobs, within=current)
            if job is None:
                current.aside += time.monotonic() - began
                return
            self._speak(job)

    @property
    def _broken(self) -> bool:
        return self._failures >= FAILURES_IN_A_ROW

    def _speak(self, job: Job) -> None:
        """One segment of one request."""
        with self._working(job):
            outcome = speak_next(self._model, job, self.spec.id)
        if outcome.broke is not None:
            self._failures = self._failures + 1 if outcome.broke else 0
        if outcome.over:
            self._finish(job, outcome.error)

    @contextmanager
    def _working(self, work: Job | Future) -> Iterator[None]:
        """Raises Abandoned at its end on a thread that has been given up."""
        before, self._at_work = self._at_work, (time.monotonic(), work)
        try:
            yield
        finally:
            self._still_wanted()
            self._at_work = before and (time.monotonic(), before[1])

    def _finish(self, job: Job, error: SpeechError | None) -> None:
        with self._changed:
            self._jobs.remove(job)
            self.served += 1
            self.used_at = time.monotonic()
        if error is None:
            job.done()
        else:
            job.failed(error)

    def _end_all(self, error: SpeechError) -> None:
        with self._changed:
            jobs, self._jobs = self._jobs, []
            unanswered, self._asked = self._asked, deque()
            self._failures = 0
        for job in jobs:
            job.cancel()
            job.failed(SpeechError("cancelled") if self._closing else error)
        for _, asked in unanswered:
            asked.set_exception(error)
