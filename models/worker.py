"""The thread that owns a model: it loads, warms and runs it, and nobody else touches it."""
from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from models.errors import SpeechError
from models.events import WordTiming
from models.families import create
from models.families.protocol import Model, ModelSpec
from models.job import FairOrder, Job
from models.memory import give_back, resident_bytes, trim

log = logging.getLogger("readyvoice.session")
HEALTHY_AFTER = 600.0  # seconds of service after which a session may be restarted once more
FAILURES_IN_A_ROW = 3  # unexpected errors after which the model is taken to be broken
TRIM_EVERY = 10  # requests after which an idle session returns freed memory to the system
STATES = ("registered", "loading", "warming", "ready", "failed", "unloaded")

Result = TypeVar("Result")


class Worker:
    """A model's life and its queue. Public methods may be called from any thread.

    watch: told on the worker thread when the state changes or a warm-up stage is over, with a line on what happened.
    warm: False leaves warming out, for a process that speaks once: each stage is then made when it is needed.
    """

    def __init__(self, spec: ModelSpec, watch: Callable[[str], None], warm: bool = True):
        self.spec, self._watch, self._warm = spec, watch, warm
        self.state, self.reason = "registered", ""
        self.load_seconds: float | None = None
        self.warm_seconds: float | None = None
        self.memory_bytes = self.served = self.restarts = 0
        self._model: Model | None = None
        self._jobs: list[Job] = []
        self._asked: deque[tuple[Callable[[Model], object], Future]] = deque()
        self._order = FairOrder()
        self._changed = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._ready_since = 0.0
        self._failures = self._trimmed_at = 0

    # -- from any thread

    def start(self) -> None:
        """Begin to load and warm; returns at once. Harmless when it already has."""
        with self._changed:
            if self.state == "registered" and not self._closing:
                self._become("loading")
                self._begin()

    def wait_ready(self, timeout: float | None = None) -> None:
        """Until ready. Raises SpeechError("session_failed" or "not_ready") when that does not come."""
        with self._changed:
            self._changed.wait_for(lambda: self.state not in ("loading", "warming"), timeout)
        self.must_be_ready()

    def must_be_ready(self) -> None:
        if self.state == "failed":
            raise SpeechError("session_failed", model=self.spec.id, reason=self.reason)
        if self.state != "ready" or self._closing:
            raise SpeechError("not_ready", model=self.spec.id, state=self.state)

    @property
    def model(self) -> Model:
        """The loaded model, for what may be asked of it from any thread. Raises as `must_be_ready`."""
        model = self._model
        if model is None or self.state != "ready":
            self.must_be_ready()
        return model

    @property
    def loaded(self) -> Model | None:
        """The model if there is one, in whatever state."""
        return self._model

    def enqueue(self, job: Job) -> None:
        """Raises SpeechError("queue_full"), and as `must_be_ready`."""
        with self._changed:
            self.must_be_ready()
            if len(self._jobs) >= self.spec.queue_limit:
                raise SpeechError("queue_full", model=self.spec.id, length=len(self._jobs))
            job.queued(len(self._jobs))
            self._jobs.append(job)
            self._changed.notify_all()

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

    def notify(self) -> None:
        """Something about a job changed: look again."""
        with self._changed:
            self._changed.notify_all()

    def close(self, timeout: float = 10.0) -> None:
        """End all requests (each is told so), unload the model and stop the thread."""
        with self._changed:
            self._closing = True
            for job in self._jobs:
                job.cancel()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    # -- the worker thread

    def _begin(self) -> None:
        self._thread = threading.Thread(target=self._live, name=f"session-{self.spec.id}", daemon=True)
        self._thread.start()

    def _live(self) -> None:
        try:
            self._prepare()
            while not self._closing:
                self._step()
        except BaseException as error:  # nothing may end a session unseen
            self._die(error)
        else:
            self._release("unloaded")

    def _prepare(self) -> None:
        before, began = resident_bytes(), time.monotonic()
        self._model = create(self.spec)
        self._model.load(self._watch)
        self.load_seconds = time.monotonic() - began
        self._become("warming")
        began = time.monotonic()
        for stage in self._model.warm() if self._warm else ():
            self._watch(stage)
        self.warm_seconds = time.monotonic() - began
        give_back()
        self.memory_bytes = max(0, resident_bytes() - before)
        self._ready_since, self._failures = time.monotonic(), 0
        self._become("ready")

    def _step(self) -> None:
        """Wait for something to do and do one piece of it."""
        with self._changed:
            for job, why in [(job, why) for job in self._jobs if (why := job.why_end())]:
                self._finish(job, why)
            if not self._asked and (job := self._order.choose(self._jobs)) is None:
                if not self._jobs and self.served >= self._trimmed_at + TRIM_EVERY:
                    self._trimmed_at = self.served
                    trim()
                self._changed.wait(self._until_next_deadline())
                return
            asked = self._asked.popleft() if self._asked else None
        if asked is None:
            self._speak(job)
        else:
            self._answer(*asked)

    def _until_next_deadline(self) -> float | None:
        ends = [job.ends_at for job in self._jobs if job.ends_at is not None]
        return max(0.0, min(ends) - time.monotonic()) + 0.01 if ends else None

    def _answer(self, work: Callable[[Model], object], asked: Future) -> None:
        if asked.set_running_or_notify_cancel():
            try:
                asked.set_result(work(self._model))
            except Exception as error:
                asked.set_exception(error)

    def _speak(self, job: Job) -> None:
        """One segment of one request."""
        segment = job.plan.segments[job.next]
        if job.next == 0:
            job.started(self._model.sample_rate)
        pieces = self._model.speak(segment, job.plan, job.request, job.turn)
        error = None
        try:
            error = self._send(pieces, job)
            self._failures = 0
        except SpeechError as refused:
            error = refused
        except Exception as broken:
            log.exception("request %s: %s could not speak %r", job.request.id, self.spec.id, segment)
            error = SpeechError("internal", model=self.spec.id, reason=type(broken).__name__, id=job.request.id)
            self._failures += 1
        finally:
            pieces.close()
        if self._failures >= FAILURES_IN_A_ROW:
            raise RuntimeError(f"{FAILURES_IN_A_ROW} requests in a row broke the model")
        job.next += 1
        job.metrics.segments_done = job.next
        last = job.next == len(job.plan.segments)
        if last and error is None and not job.metrics.audio_seconds:
            error = SpeechError("text_unspeakable", "text", what={"en": "signs it can't read", "zh": "无法朗读的符号"})
        if last or error is not None:
            self._finish(job, error)

    def _send(self, pieces, job: Job) -> SpeechError | None:
        """Pass on what the model makes; the reason to stop, if one came up on the way."""
        began = time.monotonic()
        for piece in pieces:
            job.metrics.compute += time.monotonic() - began
            if why := job.why_end():
                return why
            if isinstance(piece, WordTiming):
                job.word(piece)
            elif len(piece):
                job.audio(piece, len(piece) / self._model.sample_rate)
            began = time.monotonic()
        job.metrics.compute += time.monotonic() - began
        return job.why_end()

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
                self._become("loading")
                self._begin()

    def _release(self, state: str, reason: str = "") -> None:
        with self._changed:
            self.state, self.reason = state, reason
            jobs, self._jobs = self._jobs, []
            unanswered, self._asked = self._asked, deque()
            model, self._model = self._model, None
        died = SpeechError("session_died", model=self.spec.id)
        for job in jobs:
            job.failed(SpeechError("cancelled") if self._closing else died)
        for _, asked in unanswered:
            asked.set_exception(died)
        if model is not None:
            try:
                model.unload()
            except Exception:
                log.exception("session %s could not unload", self.spec.id)
        del model
        give_back()
        self.memory_bytes = 0
        self._become(state, reason)

    def _become(self, state: str, reason: str = "") -> None:
        with self._changed:
            self.state, self.reason = state, reason
            self._changed.notify_all()
        log.info("session %s: %s%s", self.spec.id, state, f" ({reason})" if reason else "")
        self._watch(state)
