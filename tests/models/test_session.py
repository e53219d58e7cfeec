"""A session's promises, on the smallest real model of the default fleet."""
from __future__ import annotations

import ctypes
import threading
import time

import numpy as np
import pytest

from models.errors import SpeechError
from models.events import AudioChunk, Done, Failed, Queued, SpeechRequest, Started
from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.session import Session
from tests.waiting import until

LINE = "The quick brown fox jumps over the lazy dog."
BOOK = " ".join(f"Chapter {number} begins here, and it tells of the sea, of ships, and of the people who sail them." for number in range(1, 60))


def spec(**changes) -> ModelSpec:
    options = defaults_of(family("vits").options)
    return ModelSpec(**{"id": "joe", "family": "vits", "options": options, **changes})


@pytest.fixture(scope="module")
def session():
    session = Session(spec())
    session.start()
    session.wait_ready()
    yield session
    session.close()


def idle(session):
    return session.worker.counts() == (0, 0)


def test_states_on_the_way_to_ready():
    seen = []
    one = Session(spec(), watch=lambda session, line: seen.append(line))
    assert one.state == "registered"
    with pytest.raises(SpeechError) as early:
        one.run(SpeechRequest(LINE))
    assert early.value.code == "not_ready"
    one.start()
    one.wait_ready()
    states = [line for line in seen if line in ("loading", "warming", "ready")]
    assert states == ["loading", "warming", "ready"] and len(seen) > 3  # and the stages between
    report = one.report()
    assert report["state"] == "ready" and report["load_seconds"] > 0 and report["warm_seconds"] > 0
    one.close()
    assert one.state == "unloaded" and one.worker.loaded is None


def test_events_come_in_order_and_figures_add_up(session):
    events = list(session.stream(SpeechRequest(BOOK[:400], seed=1)))
    assert isinstance(events[0], Queued) and isinstance(events[1], Started) and isinstance(events[-1], Done)
    chunks = [event for event in events if isinstance(event, AudioChunk)]
    figures = events[-1].metrics
    seconds = sum(len(chunk.samples) for chunk in chunks) / events[1].sample_rate
    assert figures.audio_seconds == pytest.approx(seconds)
    assert figures.segments_done == figures.segments == events[1].segments
    assert 0 < figures.queue_wait <= figures.ttfa <= figures.total and 0 < figures.rtf < 5
    assert [chunk.segment for chunk in chunks] == sorted(chunk.segment for chunk in chunks)
    made = 0.0
    for chunk in chunks:
        assert chunk.samples.dtype == np.float32 and chunk.offset == pytest.approx(made)
        made += len(chunk.samples) / events[1].sample_rate


def test_the_first_chunk_leaves_long_before_the_last(session):
    for event in session.stream(SpeechRequest(BOOK)):
        if isinstance(event, AudioChunk):
            assert session.worker.counts() == (0, 1)  # still at work
            break
    until(lambda: idle(session), 20)


def test_run_is_the_stream_collected(session):
    chunks = [event.samples for event in session.stream(SpeechRequest(LINE, seed=7)) if isinstance(event, AudioChunk)]
    speech = session.run(SpeechRequest(LINE, seed=7))
    assert np.array_equal(np.concatenate(chunks), speech.samples)


def test_a_short_line_waits_for_at_most_one_segment_of_a_book(session):
    book = session.stream(SpeechRequest(BOOK, seed=1))
    before, line_sounds, after_asking = [], threading.Event(), []

    def read_book():
        for event in book:
            if isinstance(event, AudioChunk):
                (after_asking if asked.is_set() else before).append((time.monotonic(), event.segment))
            if line_sounds.is_set():
                break
        book.close()

    asked = threading.Event()
    reader = threading.Thread(target=read_book)
    reader.start()
    until(lambda: before, 20)
    asked.set()
    for event in session.stream(SpeechRequest(LINE)):
        if isinstance(event, AudioChunk):
            heard_at = time.monotonic()
            break
    line_sounds.set()
    reader.join(20)
    # only the segment that was being spoken when the line was asked for may sound before it
    assert len({segment for when, segment in after_asking if when < heard_at}) <= 1
    until(lambda: idle(session), 20)


def test_cancel_leaves_the_session_idle_and_sound(session):
    reference = session.run(SpeechRequest(LINE, seed=3)).samples
    for _ in range(5):
        stream = session.stream(SpeechRequest(BOOK, seed=1))
        next(event for event in stream if isinstance(event, AudioChunk))
        stream.close()
        until(lambda: idle(session), 5)
    assert np.array_equal(session.run(SpeechRequest(LINE, seed=3)).samples, reference)


def test_a_cancelled_request_is_told_so(session):
    cancel, last = threading.Event(), None
    for last in session.stream(SpeechRequest(BOOK), cancel):
        cancel.set()
    assert isinstance(last, Failed) and last.error.code == "cancelled" and last.metrics.state == "cancelled"


def test_a_deadline_ends_a_request(session):
    last = list(session.stream(SpeechRequest(BOOK, deadline=0.3)))[-1]
    assert isinstance(last, Failed) and last.error.code == "deadline"
    assert idle(session)


def test_two_requests_at_once_each_get_their_own(session):
    texts = ["Twelve green bottles are standing on the wall.", "My grandmother bakes bread every Sunday morning."]
    alone = [session.run(SpeechRequest(text, seed=11)).samples for text in texts]
    together: dict[int, np.ndarray] = {}

    def speak(number):
        together[number] = session.run(SpeechRequest(texts[number % 2], seed=11)).samples

    threads = [threading.Thread(target=speak, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert all(np.array_equal(together[number], alone[number % 2]) for number in range(8))


def test_a_full_queue_says_so():
    small = Session(spec(queue_limit=2))
    small.start()
    small.wait_ready()
    try:
        streams = [small.stream(SpeechRequest(BOOK)) for _ in range(2)]
        [next(stream) for stream in streams]
        with pytest.raises(SpeechError) as full:
            small.run(SpeechRequest(LINE))
        assert full.value.code == "queue_full" and full.value.status == 503
        [stream.close() for stream in streams]
        until(lambda: idle(small), 20)
        assert small.run(SpeechRequest(LINE)).metrics.state == "done"
    finally:
        small.close()


def kill(thread: threading.Thread) -> None:
    """Raise SystemExit inside a running thread, as nothing in the program would."""
    assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)) == 1


def test_a_dead_worker_is_reported_restarted_once_and_never_silent():
    one = Session(spec())
    one.start()
    one.wait_ready()
    try:
        for restarts in (1, 2):
            stream = one.stream(SpeechRequest(BOOK))
            next(event for event in stream if isinstance(event, AudioChunk))
            victim = one.worker._thread
            kill(victim)
            last = list(stream)[-1]
            assert isinstance(last, Failed) and last.error.code == "session_died"
            victim.join(20)
            if restarts == 1:
                one.wait_ready(60)
                assert one.report()["restarts"] == 1
                assert one.run(SpeechRequest(LINE)).metrics.audio_seconds > 1
        until(lambda: one.state == "failed", 20)
        with pytest.raises(SpeechError) as gone:
            one.run(SpeechRequest(LINE))
        assert gone.value.code == "session_failed" and "SystemExit" in gone.value.sentence()
    finally:
        one.close()


def test_a_lazy_session_loads_on_its_first_request():
    lazy = Session(spec(lazy=True))
    try:
        assert lazy.state == "registered"
        speech = lazy.run(SpeechRequest(LINE))
        assert lazy.state == "ready"
        assert speech.metrics.ttfa > lazy.report()["load_seconds"]  # loading counts in the request's time
    finally:
        lazy.close()


def test_work_asked_of_the_worker_runs_there(session):
    assert session.ask(lambda model: threading.current_thread().name) == f"session-{session.spec.id}"
    with pytest.raises(ZeroDivisionError):
        session.ask(lambda model: 1 / 0)


@pytest.mark.parametrize(("changes", "code", "field"), [
    ({"text": "  \n"}, "text_empty", "text"), ({"text": "?!… 🎉"}, "text_unspeakable", "text"),
    ({"voice": "nobody"}, "voice_unknown", "voice"), ({"language": "xx"}, "language_unsupported", "language"),
])
def test_what_can_not_be_spoken_is_said_before_it_is_queued(session, changes, code, field):
    served = session.report()["served"]
    with pytest.raises(SpeechError) as refused:
        session.run(SpeechRequest(**{"text": LINE, **changes}))
    assert (refused.value.code, refused.value.field) == (code, field)
    assert session.report()["served"] == served
