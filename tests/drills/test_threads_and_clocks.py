"""A worker thread that is killed from outside, and clocks that jump."""
from __future__ import annotations

import ctypes
import time

import pytest
from fastapi.testclient import TestClient

from models.config import LimitsConfig
from models.errors import SpeechError
from models.events import AudioChunk, Failed, SpeechRequest
from server.auth.tickets import LASTS, Tickets
from server.front import full_app
from server.limits import Limits
from tests.models.fleets import BOOK, LINE, config_of, entry, running
from tests.server.test_limits import caller
from tests.waiting import until

DAY = 24 * 3600.0


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    with running(config_of(tmp_path_factory.mktemp("pool"), entry("joe"))) as pool:
        yield pool


def test_a_killed_worker_thread_is_replaced_and_nobody_waits_for_ever(pool):
    session = pool.session("joe")
    events: list[list] = [[], [], []]
    for number in range(3):
        session.submit(SpeechRequest(BOOK, seed=number), events[number].append)
    until(lambda: any(isinstance(event, AudioChunk) for event in events[0]), 30)
    thread = session.worker._thread
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
    until(lambda: all(one and isinstance(one[-1], Failed) for one in events), 30)
    assert {one[-1].error.code for one in events} == {"session_died"}
    until(lambda: session.report()["restarts"] == 1, 5)
    session.wait_ready(60)
    assert session.worker._thread is not thread and len(session.run(SpeechRequest(LINE, seed=1)).samples)


@pytest.mark.parametrize("jump", [-400 * DAY, -3600.0, 3600.0, 400 * DAY])
def test_a_clock_that_jumps_in_the_midst_of_a_request_changes_nothing(pool, monkeypatch, jump):
    app, session = full_app(pool), pool.session("joe")
    with TestClient(app) as client:
        wanted = client.post("/api/stream", json={"text": LINE, "model": "joe", "seed": 1}).content
        events, real = [], time.time
        job = session.submit(SpeechRequest(BOOK, seed=1, deadline=300), events.append)
        until(lambda: any(isinstance(event, AudioChunk) for event in events), 30)
        monkeypatch.setattr(time, "time", lambda: real() + jump)
        assert client.post("/api/stream", json={"text": LINE, "model": "joe", "seed": 1}).content == wanted
        assert not any(isinstance(event, Failed) for event in events)
        job.cancel()
        until(lambda: isinstance(events[-1], Failed), 10)
        assert 0 < events[-1].metrics.total < 300 and session.state == "ready"
        assert client.get("/metrics").status_code == client.get("/readyz").status_code == 200


def test_a_login_ends_when_its_time_is_over_by_the_clock_and_not_before(monkeypatch):
    tickets, real = Tickets("a password"), time.time
    ticket = tickets.issue()
    monkeypatch.setattr(time, "time", lambda: real() - DAY)
    assert tickets.good(ticket) and tickets.good(tickets.issue())
    monkeypatch.setattr(time, "time", lambda: real() + LASTS + 60)
    assert not tickets.good(ticket) and tickets.good(tickets.issue())


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_limits_hold_nobody_off_for_longer_than_they_say(monkeypatch, jump):
    config = LimitsConfig(requests=3, at_once=0, characters=0, users_per_address=10)
    limits, real = Limits(lambda: config), time.time
    for _ in range(3):
        limits.admit(caller(browser=1), 1)
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    for _ in range(4):
        try:
            limits.admit(caller(browser=1), 1)
        except SpeechError as error:
            assert 1 <= error.params["retry"] <= 61
