"""A model that hangs is given up and loaded anew; one that is merely at work, or has a slow listener, is not."""
from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from models.errors import SpeechError
from models.events import AudioChunk, Failed, SpeechRequest
from tests.models.fleets import BOOK, LINE, config_of, entry, running
from tests.waiting import until


@pytest.fixture
def pool(tmp_path):
    config = config_of(tmp_path, entry("joe"))
    with running(replace(config, server=replace(config.server, hang=1.0))) as pool:
        yield pool


class Hanging:
    """A model's `speak` that stops in its midst until it is let go."""

    def __init__(self, model):
        self.speak, self.go, self.inside = model.speak, threading.Event(), threading.Event()
        model.speak = self

    def __call__(self, *arguments):
        for piece in self.speak(*arguments):
            yield piece
            self.inside.set()
            self.go.wait()


def test_a_request_that_hangs_is_ended_and_the_session_loaded_anew(pool):
    session = pool.session("joe")
    hanging = Hanging(session.model)
    events, waiting = [], []
    session.submit(SpeechRequest(BOOK, seed=1), events.append)
    assert hanging.inside.wait(20)
    session.submit(SpeechRequest(LINE, seed=1), waiting.append)
    until(lambda: events and isinstance(events[-1], Failed), 20)
    until(lambda: waiting and isinstance(waiting[-1], Failed), 5)
    assert events[-1].error.code == waiting[-1].error.code == "session_hung" and events[-1].metrics.state == "failed"
    until(lambda: session.report()["restarts"] == 1, 5)
    session.wait_ready(60)
    assert session.worker.counts() == (0, 0)
    assert len(session.run(SpeechRequest(LINE, seed=1)).samples)
    count = len(events)
    hanging.go.set()  # the old thread comes back: nobody hears of it, and it ends
    until(lambda: sum(thread.name == "session-joe" for thread in threading.enumerate()) == 1, 20)
    assert len(events) == count and session.state == "ready" and session.worker.served == 1
    assert len(session.run(SpeechRequest(LINE, seed=1)).samples)


def test_what_is_asked_of_a_session_may_hang_too(pool):
    session, go = pool.session("joe"), threading.Event()
    asked = []

    def ask() -> None:
        with pytest.raises(SpeechError) as caught:
            session.ask(lambda model: go.wait())
        asked.append(caught.value.code)

    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: session.report()["restarts"] == 1, 20)
    session.wait_ready(60)
    assert len(session.run(SpeechRequest(LINE, seed=1)).samples)
    go.set()
    thread.join(20)
    assert not thread.is_alive()


def test_a_second_hang_soon_after_leaves_it_failed(pool):
    session = pool.session("joe")
    for restarts in (1, 1):
        session.wait_ready(60)
        Hanging(session.model)
        with pytest.raises(SpeechError, match="no sign of life"):
            session.run(SpeechRequest(LINE))
        until(lambda: session.report()["restarts"] == restarts, 5)
    until(lambda: session.state == "failed", 5)
    assert "no sign of life" in session.report()["reason"]
    with pytest.raises(SpeechError) as caught:
        session.run(SpeechRequest(LINE))
    assert caught.value.code == "session_failed"


def test_neither_a_long_text_nor_a_slow_listener_counts_as_hanging(pool):
    session, events, quiet = pool.session("joe"), [], threading.Event()
    job = session.submit(SpeechRequest(" ".join([BOOK] * 3), seed=1), events.append)
    until(lambda: job.parked, 60)
    assert not quiet.wait(3)
    assert session.state == "ready" and session.report()["restarts"] == 0
    job.cancel()
    until(lambda: isinstance(events[-1], Failed), 10)
    assert events[-1].error.code == "cancelled" and any(isinstance(event, AudioChunk) for event in events)


def test_time_in_which_the_watchdog_slept_does_not_count(pool):
    session = pool.session("joe")
    hanging = Hanging(session.model)
    events = []
    session.submit(SpeechRequest(LINE, seed=1), events.append)
    assert hanging.inside.wait(20)
    pool._watchdog.stop()
    for _ in range(3):
        pool._watchdog.look(0.2)
    assert session.state == "ready"
    hanging.go.set()
    until(lambda: session.worker.idle, 20)
    assert not isinstance(events[-1], Failed)
