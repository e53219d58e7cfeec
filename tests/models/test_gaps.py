"""Requests in the middle of another one's segment, on the smallest real model of the default fleet.

They are submitted from the book's own sink, which is called on the worker thread in the middle of a segment; and how
long the book's listener can wait is given, so that nothing depends on how fast this machine is.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from models.errors import SpeechError
from models.events import AudioChunk, Done, Failed, SpeechRequest
from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.job import Job
from models.session import Session
from tests.waiting import until

LINE = "The quick brown fox jumps over the lazy dog."
BOOK = " ".join(f"Chapter {number} begins here, and it tells of the sea, of ships, and of the people who sail them." for number in range(1, 12))
FOREVER = 1e9


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    one = Session(ModelSpec("joe", "vits", options=defaults_of(family("vits").options)))
    one.start()
    one.wait_ready()
    yield one
    one.close()


class Reading:
    """A book being spoken while others ask. `others(self)` is called in the middle of its second segment, once.

    ahead: how many seconds of it its listener has yet to hear, then.
    """

    def __init__(self, session: Session, others: Callable[[Reading], None], ahead: float = FOREVER):
        self.session, self.others, self.ahead = session, others, ahead
        self.events: list[tuple[str, object]] = []
        self.over = threading.Event()
        self.jobs: dict[str, Job] = {}
        self.submit("book", BOOK, seed=1)
        assert self.over.wait(60)
        until(lambda: session.worker.counts() == (0, 0))

    def submit(self, name: str, text: str, **fields) -> Job:
        self.jobs[name] = self.session.submit(SpeechRequest(text, **fields), lambda event: self._hear(name, event))
        return self.jobs[name]

    def _hear(self, name: str, event: object) -> None:
        self.events.append((name, event))
        if isinstance(event, AudioChunk):
            self.jobs[name].taken(len(event.samples) / 22_050)
            if name == "book" and event.segment == 1 and self.others is not None:
                self.jobs["book"]._first_audio += self.ahead
                others, self.others = self.others, None
                others(self)
        if name == "book" and isinstance(event, (Done, Failed)):
            self.over.set()

    def of(self, name: str) -> list:
        return [event for who, event in self.events if who == name]

    def samples(self, name: str) -> np.ndarray:
        return np.concatenate([event.samples for event in self.of(name) if isinstance(event, AudioChunk)])

    def order(self) -> list[str]:
        """Whose sound comes when: the segments of each, by name and number."""
        heard = [f"{name} {event.segment}" for name, event in self.events if isinstance(event, AudioChunk)]
        return [one for number, one in enumerate(heard) if number == 0 or heard[number - 1] != one]


def test_a_short_line_sounds_in_the_middle_of_a_books_segment_and_both_sound_as_alone(session):
    reading = Reading(session, lambda reading: reading.submit("line", LINE, seed=2))
    assert reading.order()[:5] == ["book 0", "book 1", "line 0", "book 1", "book 2"]
    for name, text, seed in (("book", BOOK, 1), ("line", LINE, 2)):
        assert isinstance(reading.of(name)[-1], Done)
        assert np.array_equal(reading.samples(name), session.run(SpeechRequest(text, seed=seed)).samples)
    kinds = [(name, type(event)) for name, event in reading.events]
    assert kinds[kinds.index(("line", Done)) + 1] == ("book", AudioChunk)  # it is told at once that it is over


def test_the_books_figures_leave_out_what_was_spoken_in_its_midst(session):
    began = time.monotonic()
    reading = Reading(session, lambda reading: [reading.submit(f"line {number}", BOOK[:100]) for number in range(12)])
    lasted = time.monotonic() - began
    computed = [event.metrics.compute for _, event in reading.events if isinstance(event, Done)]
    assert len(computed) == 13 and min(computed) > 0 and sum(computed) <= lasted  # no second counts twice


def test_all_who_wait_come_in_order_and_only_with_their_first_segment(session):
    def others(reading):
        for name in ("one", "two"):
            reading.submit(name, BOOK)

    order = Reading(session, others).order()
    assert order[:5] == ["book 0", "book 1", "one 0", "two 0", "book 1"]


def test_a_listener_who_would_run_dry_does_not_wait(session):
    reading = Reading(session, lambda reading: reading.submit("line", LINE), ahead=-FOREVER)
    assert reading.order()[:3] == ["book 0", "book 1", "line 0"] and reading.order()[3] == "book 2"


def test_a_first_segment_is_not_interrupted(session):
    events = []

    def hear(event):
        events.append(event)
        if isinstance(event, AudioChunk) and len(events) < 4:
            session.submit(SpeechRequest(LINE), lambda other: events.append("line") if isinstance(other, AudioChunk) else None)

    session.submit(SpeechRequest(BOOK[:100]), hear)
    until(lambda: any(isinstance(event, Done) for event in events))
    until(lambda: "line" in events)
    assert events.index("line") > next(number for number, event in enumerate(events) if isinstance(event, Done))


def test_a_model_that_never_calls_its_gap_is_not_left(session, monkeypatch):
    monkeypatch.setattr("models.gaps.Gap.__call__", lambda gap: None)
    order = Reading(session, lambda reading: reading.submit("line", LINE)).order()
    assert order[:4] == ["book 0", "book 1", "line 0", "book 2"]


def test_who_cancels_or_comes_too_late_in_the_midst_is_not_spoken(session):
    def others(reading):
        reading.submit("gone", LINE).cancel()
        reading.submit("late", LINE, deadline=-1.0)
        reading.submit("line", LINE)

    reading = Reading(session, others)
    assert reading.order()[:4] == ["book 0", "book 1", "line 0", "book 1"]
    assert [reading.of(name)[-1].error.code for name in ("gone", "late")] == ["cancelled", "deadline"]
    assert isinstance(reading.of("book")[-1], Done)


def test_a_cancelled_book_ends_in_the_middle_of_its_segment(session):
    def others(reading):
        reading.jobs["book"].cancel()
        reading.submit("line", LINE)

    reading = Reading(session, others)
    until(lambda: reading.of("line") and isinstance(reading.of("line")[-1], Done))
    assert reading.order() == ["book 0", "book 1", "line 0"] and reading.of("book")[-1].error.code == "cancelled"
    assert [event.segment for event in reading.of("book") if isinstance(event, AudioChunk)].count(1) == 1


def broken(session, monkeypatch, texts: tuple[str, ...]) -> None:
    """From now on the model fails at these texts as it never should."""
    model = session.model
    read = model._phoneme_ids

    def fails(segment, *others):
        if segment.text in texts:
            raise ZeroDivisionError(segment.text)
        return read(segment, *others)

    monkeypatch.setattr(model, "_phoneme_ids", fails)


def test_a_failure_in_the_midst_is_the_failing_requests_own(session, monkeypatch):
    broken(session, monkeypatch, (LINE,))
    reading = Reading(session, lambda reading: reading.submit("line", LINE))
    assert reading.of("line")[-1].error.code == "internal" and isinstance(reading.of("book")[-1], Done)
    assert np.array_equal(reading.samples("book"), session.run(SpeechRequest(BOOK, seed=1)).samples)


def test_three_failures_in_a_row_in_the_midst_break_the_model(monkeypatch):
    one = Session(ModelSpec("joe", "vits", options=defaults_of(family("vits").options)))
    one.start()
    one.wait_ready()
    try:
        broken(one, monkeypatch, (LINE,))
        reading = Reading(one, lambda reading: [reading.submit(f"line {number}", LINE) for number in range(4)])
        told = [reading.of(name)[-1].error.code for name in ("line 0", "line 1", "line 2", "line 3", "book")]
        assert told == ["internal"] * 3 + ["session_died"] * 2
        until(lambda: one.state == "ready", 60)
        assert one.report()["restarts"] == 1 and one.run(SpeechRequest(LINE)).metrics.audio_seconds > 1
    finally:
        one.close()


def test_a_session_closes_in_the_middle_of_a_segment(monkeypatch):
    one = Session(ModelSpec("joe", "vits", options=defaults_of(family("vits").options)))
    one.start()
    one.wait_ready()
    reading = Reading(one, lambda reading: (reading.submit("line", LINE), one.worker.close()))
    until(lambda: one.state == "unloaded")
    assert [reading.of(name)[-1].error.code for name in ("line", "book")] == ["cancelled"] * 2
    with pytest.raises(SpeechError):
        one.run(SpeechRequest(LINE))


def test_what_went_to_others_is_not_the_books_compute(session):
    def many(reading: Reading) -> None:
        for number in range(4):
            reading.submit(f"line {number}", LINE, seed=number)

    reading = Reading(session, many)
    done = reading.of("book")[-1]
    lines = [reading.of(f"line {number}")[-1].metrics for number in range(4)]
    assert 0 < done.metrics.compute < done.metrics.total - sum(line.compute for line in lines) + 0.05


def test_a_book_that_is_stopped_beside_others_has_not_computed_less_than_nothing(session):
    def stop(reading: Reading) -> None:
        for number in range(3):
            reading.submit(f"line {number}", LINE, seed=number)
        reading.jobs["book"].cancel()

    assert Reading(session, stop).of("book")[-1].metrics.compute >= 0
