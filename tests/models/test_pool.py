"""The pool on a small machine: who loads, who waits, who makes room."""
from __future__ import annotations

import threading

import pytest

from models.errors import SpeechError
from models.events import AudioChunk, SpeechRequest
from tests.models.fleets import BOOK, LINE, config_of, entry, room_for, running


def speak(pool, name, text=LINE):
    request = SpeechRequest(text, model=name, seed=1)
    return pool.session_for(request).run(request)


def test_priority_decides_who_is_loaded_and_the_reason_is_told(tmp_path):
    config = config_of(tmp_path, entry("a") + entry("b", priority=2) + entry("c", priority=1), room_for(2.5))
    seen = []
    with running(config, watch=lambda session, line: seen.append((session.spec.id, line))) as pool:
        assert pool.states() == {"a": "registered", "b": "ready", "c": "ready"} and pool.ready
        reports = {report["id"]: report for report in pool.report()["sessions"]}
        assert "a needs about" in reports["a"]["reason"] and "raise memory_budget" in reports["a"]["reason"]
        assert reports["a"]["lazy"] and not reports["b"]["lazy"] and reports["b"]["reason"] == ""
        assert "内存" in pool.report("zh")["sessions"][0]["reason"]
        assert ("a", "deferred") in seen and ("a", "loading") not in seen
        memory = pool.report()["memory"]["cpu"]
        assert 0 < memory["used"] <= memory["limit"] == config.server.memory_budget
        # a is of the lowest priority: nobody goes for it
        with pytest.raises(SpeechError) as full:
            speak(pool, "a")
        assert full.value.code == "no_room" and full.value.status == 503
        assert "choose one that is ready" in full.value.sentence()
        assert pool.states() == {"a": "registered", "b": "ready", "c": "ready"}


def test_the_default_model_comes_first_among_equals(tmp_path):
    config = config_of(tmp_path, '[server]\ndefault_model = "b"\n' + entry("a") + entry("b"), room_for(1.5))
    with running(config) as pool:
        assert pool.states() == {"a": "registered", "b": "ready"}


def test_the_least_recently_used_makes_room(tmp_path):
    fleet = "".join(entry(name, lazy=True) for name in "abc")
    with running(config_of(tmp_path, fleet, room_for(2.5))) as pool:
        for name in "aba":
            speak(pool, name)
        version = pool.version
        voices = pool.catalog()["models"][1]["voices"]
        assert voices and speak(pool, "c").metrics.audio_seconds > 1
        assert pool.states() == {"a": "ready", "b": "unloaded", "c": "ready"} and pool.version != version
        assert "to make room for c" in pool.sessions["b"].report()["reason"]
        assert pool.catalog()["models"][1]["voices"] == voices  # the page still shows them
        assert speak(pool, "b").metrics.audio_seconds > 1 and pool.sessions["b"].report()["reason"] == ""
        assert pool.states() == {"a": "unloaded", "b": "ready", "c": "ready"}


def test_an_eager_session_goes_for_a_higher_priority_or_when_its_entry_says_so(tmp_path):
    high = entry("low") + entry("high", lazy=True, priority=1)
    with running(config_of(tmp_path, high, room_for(1.5))) as pool:
        speak(pool, "high")
        assert pool.states() == {"low": "unloaded", "high": "ready"} and pool.ready  # low is lazy from now on
    with running(config_of(tmp_path, entry("eager") + entry("other", lazy=True), room_for(1.5))) as pool:
        with pytest.raises(SpeechError, match="other needs about"):
            speak(pool, "other")
    with running(config_of(tmp_path, entry("eager", evict=True) + entry("other", lazy=True), room_for(1.5))) as pool:
        assert speak(pool, "other").metrics.model == "other" and pool.states()["eager"] == "unloaded"
    stays = entry("a", lazy=True, evict=False) + entry("b", lazy=True, priority=9)
    with running(config_of(tmp_path, stays, room_for(1.5))) as pool:
        speak(pool, "a")
        with pytest.raises(SpeechError, match="b needs about"):
            speak(pool, "b")


def test_a_busy_session_is_never_evicted(tmp_path):
    fleet = entry("a", lazy=True) + entry("b", lazy=True, priority=5)
    with running(config_of(tmp_path, fleet, room_for(1.5))) as pool:
        alone = speak(pool, "a", BOOK).samples
        request = SpeechRequest(BOOK, model="a", seed=1)
        chunks = []
        for event in pool.session_for(request).stream(request):
            if isinstance(event, AudioChunk):
                chunks.append(event.samples)
                if len(chunks) == 1:
                    with pytest.raises(SpeechError) as full:
                        speak(pool, "b")
                    assert full.value.code == "no_room" and not pool.sessions["a"].unload()
        assert sum(map(len, chunks)) == len(alone) and (b"".join(c.tobytes() for c in chunks) == alone.tobytes())
        assert speak(pool, "b").metrics.model == "b" and pool.states() == {"a": "unloaded", "b": "ready"}


def test_requests_that_come_at_once_share_one_loading(tmp_path):
    with running(config_of(tmp_path, entry("a", lazy=True), room_for(1.5))) as pool:
        heard = []
        threads = [threading.Thread(target=lambda: heard.append(speak(pool, "a"))) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join(120) for thread in threads]
        assert len(heard) == 4 and pool.sessions["a"].report()["served"] == 4


def test_two_that_want_the_same_room_do_not_take_it_twice(tmp_path):
    fleet = entry("a", lazy=True) + entry("b", lazy=True)
    with running(config_of(tmp_path, fleet, room_for(1.5))) as pool:
        ended = []

        def one(name):
            try:
                speak(pool, name, BOOK)
                ended.append("spoke")
            except SpeechError as error:
                ended.append(error.code)

        threads = [threading.Thread(target=one, args=(name,)) for name in "ab"]
        [thread.start() for thread in threads]
        [thread.join(120) for thread in threads]
        assert "spoke" in ended and set(ended) <= {"spoke", "no_room"}
        assert sorted(pool.states().values()) in (["ready", "registered"], ["ready", "unloaded"])


def test_an_unloaded_session_is_loaded_by_its_next_request(tmp_path):
    with running(config_of(tmp_path, entry("a"))) as pool:
        session = pool.session("a")
        before = speak(pool, "a").samples
        assert session.unload() and session.state == "unloaded" and not session.unload()
        assert pool.report()["ready"] and session.worker.loaded is None
        assert (speak(pool, "a").samples == before).all() and session.state == "ready"
