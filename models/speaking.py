"""What a session's worker thread does for one request at a time: the next segment, or an answer to what was asked."""
from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from models.errors import SpeechError
from models.events import WordTiming
from models.families.protocol import Model
from models.job import Job

log = logging.getLogger("readyvoice.session")


@dataclass(frozen=True)
class Outcome:
    """over: the request has ended, well or by `error`. broke: the model failed as it never should; None: it refused."""

    over: bool
    error: SpeechError | None
    broke: bool | None


def speak_next(model: Model, job: Job, model_id: str) -> Outcome:
    """Speak the job's next segment and count it."""
    segment = job.plan.segments[job.next]
    if job.next == 0:
        job.started(model.sample_rate)
    pieces = model.speak(segment, job.plan, job.request, job.turn)
    error, broke = None, False
    try:
        error = _send(pieces, job, model.sample_rate)
    except SpeechError as refused:
        error, broke = refused, None
    except Exception as fault:
        log.exception("request %s: %s could not speak %r", job.request.id, model_id, segment)
        error = SpeechError("internal", model=model_id, reason=type(fault).__name__, id=job.request.id)
        broke = True
    finally:
        pieces.close()
    job.next += 1
    job.metrics.segments_done = job.next
    last = job.next == len(job.plan.segments)
    if last and error is None and not job.metrics.audio_seconds:
        error = SpeechError("text_unspeakable", "text", what={"en": "signs it can't read", "zh": "无法朗读的符号"})
    return Outcome(last or error is not None, error, broke)


def _send(pieces: Iterator[np.ndarray | WordTiming], job: Job, sample_rate: int) -> SpeechError | None:
    """Pass on what the model makes; the reason to stop, if one came up on the way."""
    began = time.monotonic()
    try:
        for piece in pieces:
            began = _counted(job, began)
            if why := job.why_end():
                return why
            if isinstance(piece, WordTiming):
                job.word(piece)
            elif len(piece):
                job.audio(piece, len(piece) / sample_rate)
            began = time.monotonic()
    finally:
        _counted(job, began)
    return job.why_end()


def _counted(job: Job, began: float) -> float:
    """Add what was computed since, without what went to others in its midst; returns the time now."""
    now = job.active_at = time.monotonic()
    job.metrics.compute += max(0.0, now - began - job.aside)
    job.aside = 0.0
    return now


def answer(model: Model, work: Callable[[Model], object], asked: Future) -> None:
    """Run `work(model)` for whoever waits for `asked`."""
    if asked.set_running_or_notify_cancel():
        try:
            found, error = work(model), None
        except Exception as raised:
            found, error = None, raised
        if not asked.done():  # else it took so long that it was given up
            asked.set_exception(error) if error is not None else asked.set_result(found)
