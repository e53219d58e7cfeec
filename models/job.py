"""One request inside a session, and the order in which requests get the worker."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable

from models.errors import SpeechError
from models.events import AudioChunk, Done, Event, Failed, Queued, SpeechRequest, Started, WordTiming
from models.families.protocol import Plan, Turn
from models.metrics import RequestMetrics

MAX_AHEAD = 30.0  # seconds of audio made but not taken, beyond which a request's reader is too slow and it is parked
NEWCOMERS_IN_A_ROW = 2
MARGIN = 2  # how much longer than reckoned the work before a listener's next sound may take


class Job:
    """A queued or running request. The worker drives it; any thread may `cancel` it or report audio `taken`.

    sink: called on the worker thread with each event; it must not block. If it raises, the reader is gone and the
    job counts as cancelled.
    """

    def __init__(self, request: SpeechRequest, plan: Plan, metrics: RequestMetrics, sink: Callable[[Event], None],
                 wake: Callable[[], None]):
        self.request, self.plan, self.metrics = request, plan, metrics
        self.turn = Turn()
        self.next = 0  # index of the segment to speak next
        self.finished = False
        self.aside = 0.0  # seconds of the piece being made that went to other requests
        self.active_at = 0.0  # when the model last gave something
        self._sink, self._wake = sink, wake
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._ahead = 0.0
        self._first_audio: float | None = None

    # -- from any thread

    def cancel(self) -> None:
        """End the request at its next chunk. Harmless when it has ended already."""
        self._cancelled.set()
        self._wake()

    def taken(self, seconds: float) -> None:
        """The reader has taken this much audio: room for more."""
        with self._lock:
            before, self._ahead = self._ahead, self._ahead - seconds
        if before >= MAX_AHEAD > self._ahead:
            self._wake()

    # -- what the worker asks

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def parked(self) -> bool:
        """Its reader is too slow: making more would only fill memory."""
        with self._lock:
            return self._ahead >= MAX_AHEAD

    @property
    def ends_at(self) -> float | None:
        """`time.monotonic()` at which its deadline is over."""
        return None if self.request.deadline is None else self.request.arrived + self.request.deadline

    @property
    def runs_dry_at(self) -> float:
        """When a listener who plays at once will have heard everything made so far."""
        return (self._first_audio or 0.0) + self.metrics.audio_seconds

    def can_wait_for(self, other: Job) -> bool:
        """In the middle of its own segment: whether its listener has enough to hear, by a wide margin, until that is
        made although the first one of `other` is spoken before."""
        segments, spoken = self.plan.segments, self.plan.segments[:self.next]
        pace = self.metrics.compute / sum(len(segment.text) for segment in spoken)  # seconds a character
        work = pace * (len(segments[self.next].text) + len(other.plan.segments[0].text))
        return self.runs_dry_at > time.monotonic() + MARGIN * work

    def why_end(self) -> SpeechError | None:
        """The reason to stop now, if there is one."""
        if self.cancelled:
            return SpeechError("cancelled")
        if self.ends_at is not None and time.monotonic() > self.ends_at:
            return SpeechError("deadline", seconds=f"{self.request.deadline:g}")
        return None

    # -- events, on the worker thread

    def queued(self, position: int) -> None:
        self._emit(Queued(position))

    def started(self, sample_rate: int) -> None:
        self.metrics.state = "running"
        self.metrics.queue_wait = time.monotonic() - self.request.arrived
        self._emit(Started(sample_rate, len(self.plan.segments)))

    def audio(self, samples, seconds: float) -> None:
        if self.finished:  # given up while the model was at it
            return
        if self._first_audio is None:
            self._first_audio = time.monotonic()
            self.metrics.ttfa = self._first_audio - self.request.arrived
        offset = self.metrics.audio_seconds
        self.metrics.audio_seconds += seconds
        with self._lock:
            self._ahead += seconds
        self._emit(AudioChunk(samples, self.next, offset))

    def word(self, timing: WordTiming) -> None:
        self._emit(timing)

    def done(self) -> None:
        if self.finished:
            return
        self._end()
        self.metrics.state = "done"
        self._emit(Done(self.metrics))

    def failed(self, error: SpeechError) -> None:
        if self.finished:
            return
        self._end()
        self.metrics.failed(error)
        self._emit(Failed(error, self.metrics))

    def _end(self) -> None:
        self.finished = True
        self.metrics.caches, self.metrics.voice_prepare = self.turn.caches, self.turn.voice_prepare
        self.metrics.total = time.monotonic() - self.request.arrived

    def _emit(self, event: Event) -> None:
        try:
            self._sink(event)
        except Exception:  # the reader's loop or queue is closed: nobody listens any more
            self._cancelled.set()


def next_deadline(jobs: list[Job]) -> float | None:
    """Seconds until the first of the jobs has to end, None when none of them must."""
    ends = [job.ends_at for job in jobs if job.ends_at is not None]
    return max(0.0, min(ends) - time.monotonic()) + 0.01 if ends else None


class FairOrder:
    """Chooses whose segment comes next.

    A request that has not spoken yet goes first (a short line is never stuck behind an audiobook), oldest first; but
    after two newcomers in a row a started request whose listener is about to run dry gets its turn. Among started
    ones, whoever runs dry first.
    In the middle of a started one's segment newcomers go first by the same rule, if its listener can wait for them.
    """

    def __init__(self) -> None:
        self._row = 0

    def choose(self, jobs: list[Job], within: Job | None = None) -> Job | None:
        """within: whose segment is being spoken; what is chosen then is a newcomer to speak in the middle of it."""
        able = [job for job in jobs if not job.parked]
        newcomers = [job for job in able if job.next == 0]
        started = sorted((job for job in able if job.next > 0), key=lambda job: job.runs_dry_at)
        hungry = bool(started) and started[0].runs_dry_at < time.monotonic() + 0.1
        if newcomers and not (hungry and self._row >= NEWCOMERS_IN_A_ROW):
            newcomer = min(newcomers, key=lambda job: job.request.arrived)
            if within is None or within.can_wait_for(newcomer):
                self._row += 1
                return newcomer
        if within is not None:
            return None
        self._row = 0
        return started[0] if started else None
