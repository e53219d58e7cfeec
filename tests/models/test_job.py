from __future__ import annotations

import time

import numpy as np

from models.events import AudioChunk, Failed, SpeechRequest
from models.families.protocol import Plan
from models.job import MAX_AHEAD, FairOrder, Job
from models.metrics import RequestMetrics
from models.text import Run, Segment


def job(segments=3, arrived=None, deadline=None, sink=None):
    request = SpeechRequest("text", deadline=deadline, arrived=arrived or time.monotonic())
    plan = Plan("voice", "en", [Segment(n, "text", 0, 4, (Run("text", "en"),)) for n in range(segments)])
    return Job(request, plan, RequestMetrics(request.id, "m"), sink or (lambda event: None), lambda: None)


def speak(one, seconds):
    one.audio(np.zeros(10, np.float32), seconds)
    one.taken(seconds)
    one.next += 1


def test_a_newcomer_goes_before_a_running_book():
    book, line = job(100), job(1)
    speak(book, 5.0)
    assert FairOrder().choose([book, line]) is line


def test_newcomers_in_order_of_arrival():
    now = time.monotonic()
    late, early = job(arrived=now), job(arrived=now - 1)
    assert FairOrder().choose([late, early]) is early


def test_a_listener_about_to_run_dry_is_not_starved_by_newcomers():
    order, hungry = FairOrder(), job(100)
    speak(hungry, 0.01)
    newcomers = [job(1) for _ in range(5)]
    chosen = [order.choose([hungry, *newcomers]) for _ in range(3)]
    assert chosen[2] is hungry and hungry not in chosen[:2]


def test_among_running_ones_who_runs_dry_first():
    ahead, behind = job(), job()
    speak(ahead, 20.0)
    speak(behind, 1.0)
    assert FairOrder().choose([ahead, behind]) is behind


def book(ahead, compute=1.0):
    """Five segments of one length, the first of which took `compute` seconds; `ahead` seconds of it are yet to be heard."""
    one = job(5)
    speak(one, ahead)
    one.metrics.compute = compute
    return one


def test_a_newcomer_is_spoken_in_the_middle_of_a_segment():
    one, now = book(60.0), time.monotonic()
    late, early = job(1, arrived=now), job(1, arrived=now - 1)
    assert FairOrder().choose([one, late, early], within=one) is early


def test_only_newcomers_are():
    one, hungrier = book(60.0), book(5.0)
    assert FairOrder().choose([one, hungrier], within=one) is None
    assert FairOrder().choose([one], within=one) is None


def test_not_if_the_listener_would_run_dry():
    """The work of two segments comes before the next sound, and may take twice as long as it did."""
    line, enough, little, slow = job(1), book(45.0, 10.0), book(35.0, 10.0), book(45.0, 20.0)
    assert FairOrder().choose([enough, line], within=enough) is line
    assert all(FairOrder().choose([one, line], within=one) is None for one in (little, slow))


def test_newcomers_in_the_middle_of_a_segment_count_as_newcomers():
    order, one, hungry = FairOrder(), book(60.0), job(100)
    speak(hungry, 0.01)
    newcomers = [job(1) for _ in range(5)]
    chosen = [order.choose([one, hungry, *newcomers], within=one) for _ in range(3)]
    assert chosen[0] in newcomers and chosen[1] in newcomers and chosen[2] is None
    assert order.choose([one, hungry, *newcomers]) is hungry


def test_a_segment_that_nobody_may_interrupt_leaves_the_count_as_it_was():
    order, tight, hungry = FairOrder(), book(0.05), job(100)
    speak(hungry, 0.01)
    newcomers = [job(1) for _ in range(5)]
    assert order.choose([hungry, *newcomers]) in newcomers
    assert order.choose([tight, *newcomers], within=tight) is None
    assert order.choose([hungry, *newcomers]) in newcomers and order.choose([hungry, *newcomers]) is hungry


def test_a_reader_who_takes_nothing_is_parked_until_he_takes():
    slow = job(100)
    slow.audio(np.zeros(10, np.float32), MAX_AHEAD + 1)
    slow.next += 1
    assert slow.parked and FairOrder().choose([slow]) is None
    slow.taken(5.0)
    assert not slow.parked and FairOrder().choose([slow]) is slow


def test_offsets_count_the_audio_before():
    events = []
    one = job(sink=events.append)
    one.audio(np.zeros(10, np.float32), 0.5)
    one.audio(np.zeros(10, np.float32), 0.25)
    assert [event.offset for event in events if isinstance(event, AudioChunk)] == [0.0, 0.5]
    assert one.metrics.audio_seconds == 0.75


def test_cancel_and_deadline_are_reasons_to_end():
    cancelled, late, fine = job(), job(arrived=time.monotonic() - 2, deadline=1.0), job(deadline=60.0)
    cancelled.cancel()
    assert cancelled.why_end().code == "cancelled"
    assert late.why_end().code == "deadline"
    assert fine.why_end() is None


def test_a_sink_that_fails_means_nobody_listens():
    def gone(event):
        raise RuntimeError("the loop is closed")

    one = job(sink=gone)
    one.started(24000)
    assert one.cancelled


def test_a_failure_is_told_and_kept_in_both_languages():
    events = []
    late = job(arrived=time.monotonic() - 2, deadline=1.0, sink=events.append)
    late.failed(late.why_end())
    assert isinstance(events[-1], Failed) and late.metrics.state == "failed"
    assert "shorter text" in late.metrics.error["message"] and "更短" in late.metrics.error["messages"]["zh"]
