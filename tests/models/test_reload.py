"""Sessions that come, go and change while the pool serves."""
from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from models.errors import SpeechError
from models.events import AudioChunk, Done, SpeechRequest
from models.pool import Pool
from models.reload import apply
from tests.models.fleets import BOOK, JOE, LINE, broken_voice, config_of, entry, room_for, running, second_voice
from tests.waiting import until


def speak(pool, name, text=LINE):
    request = SpeechRequest(text, model=name, seed=1)
    return pool.session_for(request).run(request)


def in_background(work):
    """The thread, and a list that gets what `work` returned or raised."""
    ended = []

    def run():
        try:
            ended.append(work())
        except SpeechError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, ended


def test_a_swap_under_a_running_stream(tmp_path):
    with running(config_of(tmp_path, entry("voice"))) as pool:
        old = pool.session("voice")
        undisturbed = speak(pool, "voice", BOOK).samples
        spec = replace(old.spec, path=second_voice(tmp_path / "jane"))
        request = SpeechRequest(BOOK, model="voice", seed=1)
        stream, chunks, version = pool.session_for(request).stream(request), [], pool.version
        chunks.append(next(event.samples for event in stream if isinstance(event, AudioChunk)))
        swapping, ended = in_background(lambda: pool.swap("voice", spec))
        until(lambda: old.incoming is not None and old.incoming.state in ("loading", "warming"), 60)
        assert pool.report()["sessions"][0]["incoming"] in ("loading", "warming") and pool.ready
        meanwhile = speak(pool, "voice")
        assert old.incoming is not None and meanwhile.metrics.voice == JOE  # the old one serves until the new is warm
        until(lambda: ended, 60)
        assert ended == [None] and pool.session("voice") is not old and pool.version != version
        assert speak(pool, "voice").metrics.voice == "en_US-jane-medium"
        for event in stream:
            if isinstance(event, AudioChunk):
                chunks.append(event.samples)
        assert isinstance(event, Done) and event.metrics.voice == JOE
        assert np.array_equal(np.concatenate(chunks), undisturbed)
        until(lambda: old.state == "unloaded", 60)
        assert old.worker.loaded is None and pool.report()["sessions"][0]["incoming"] is None
        swapping.join()
        # a caller that still holds the old session is led on
        assert old.run(SpeechRequest(LINE, seed=1)).metrics.voice == "en_US-jane-medium"


def test_a_swap_to_a_broken_checkpoint_changes_nothing(tmp_path):
    with running(config_of(tmp_path, entry("voice"))) as pool:
        old, before = pool.session("voice"), speak(pool, "voice").samples
        with pytest.raises(SpeechError) as failed:
            pool.swap("voice", replace(old.spec, path=broken_voice(tmp_path / "broken")))
        assert failed.value.code == "swap_failed" and "voice goes on as it was" in str(failed.value)
        assert pool.session("voice") is old and np.array_equal(speak(pool, "voice").samples, before)
        report = pool.report()["sessions"][0]
        assert report["state"] == "ready" and "not usable" in report["reason"] and pool.ready
        pool.swap("voice", replace(old.spec, path=second_voice(tmp_path / "jane")))  # the next one that is sound works
        assert pool.report()["sessions"][0]["reason"] == ""


def test_a_swap_that_finds_no_room_beside_the_old_one(tmp_path):
    with running(config_of(tmp_path, entry("voice"), room_for(1.5))) as pool:
        old = pool.session("voice")
        with pytest.raises(SpeechError, match="needs about .* is left"):
            pool.swap("voice", replace(old.spec, path=second_voice(tmp_path / "jane")))
        assert pool.session("voice") is old and speak(pool, "voice").metrics.voice == JOE


def test_a_session_that_is_not_loaded_is_swapped_without_loading(tmp_path):
    with running(config_of(tmp_path, entry("voice", lazy=True))) as pool:
        pool.swap("voice", replace(pool.session("voice").spec, path=second_voice(tmp_path / "jane")))
        assert pool.states() == {"voice": "registered"}
        assert speak(pool, "voice").metrics.voice == "en_US-jane-medium"
    with running(config_of(tmp_path, entry("voice"))) as pool, pytest.raises(SpeechError, match="no model called"):
        pool.swap("other", pool.session("voice").spec)


def test_a_failed_session_gets_another_chance(tmp_path):
    folder = broken_voice(tmp_path / "voice")
    config = config_of(tmp_path, entry("ok") + entry("voice", folder))
    with pytest.raises(SpeechError), running(config):
        pass
    pool = Pool(config)
    try:
        pool.start()
        with pytest.raises(SpeechError):
            pool.wait_ready(120)
        (problem,) = apply(pool, config)
        assert "not usable" in problem.sentence() and pool.states() == {"ok": "ready", "voice": "failed"}
        second_voice(folder)
        assert apply(pool, config) == [] and pool.states() == {"ok": "ready", "voice": "ready"}
    finally:
        pool.close()


def test_only_the_difference_is_applied(tmp_path):
    jane = second_voice(tmp_path / "jane")
    first = entry("same") + entry("changed") + entry("gone") + '[routes]\nen = "same"\n'
    with running(config_of(tmp_path, first)) as pool:
        same, changed, gone = (pool.session(name) for name in ("same", "changed", "gone"))
        request = SpeechRequest(BOOK, model="gone", seed=1)
        alone = speak(pool, "gone", BOOK).samples
        stream = gone.stream(request)
        chunks = [next(event.samples for event in stream if isinstance(event, AudioChunk))]
        second = ('[server]\ndefault_model = "new"\ntext_limit = 99\nport = 7001\n' + entry("new", lazy=False)
                  + entry("changed", jane) + entry("same", priority=3, queue_limit=5) + '[routes]\nen = "new"\n')
        (problem,) = apply(pool, config_of(tmp_path, second))
        assert problem.code == "restart_needed" and "port" in str(problem) and pool.config.server.port == 6006
        assert list(pool.states().items()) == [("new", "ready"), ("changed", "ready"), ("same", "ready")]
        assert pool.session("same") is same and same.report()["priority"] == 3 and same.worker.spec.queue_limit == 5
        assert pool.session("changed") is not changed and speak(pool, "changed").metrics.voice == "en_US-jane-medium"
        assert pool.session().spec.id == "new" and pool.catalog()["text_limit"] == 99
        assert speak(pool, "auto").metrics.model == "new"
        with pytest.raises(SpeechError, match="no model called gone"):
            pool.session("gone")
        with pytest.raises(SpeechError) as removed:
            gone.run(SpeechRequest(LINE))
        assert removed.value.code == "model_removed"
        chunks += [event.samples for event in stream if isinstance(event, AudioChunk)]
        assert np.array_equal(np.concatenate(chunks), alone)  # its last request was spoken to the end
        until(lambda: gone.state == "unloaded" and changed.state == "unloaded", 60)


def test_what_finds_room_only_after_others_have_gone_is_loaded_then(tmp_path):
    with running(config_of(tmp_path, entry("old"), room_for(1.5))) as pool:
        budget = pool.config.server.memory_budget
        assert apply(pool, config_of(tmp_path, entry("new"), budget)) == []
        assert pool.states() == {"new": "ready"}


def test_a_larger_budget_loads_what_had_to_wait(tmp_path):
    fleet = entry("a") + entry("b")
    with running(config_of(tmp_path, fleet, room_for(1.5))) as pool:
        assert pool.states() == {"a": "ready", "b": "registered"}
        (problem,) = apply(pool, pool.config)
        assert problem.code == "no_room" and pool.ready
        assert apply(pool, config_of(tmp_path, fleet)) == []
        assert pool.states() == {"a": "ready", "b": "ready"} and pool.report()["sessions"][1]["reason"] == ""


def test_an_added_model_that_can_not_be_loaded_is_told(tmp_path):
    with running(config_of(tmp_path, entry("a"))) as pool:
        (problem,) = apply(pool, config_of(tmp_path, entry("a") + entry("bad", broken_voice(tmp_path / "bad"))))
        assert "bad is not available" in str(problem)
        assert pool.states() == {"a": "ready", "bad": "failed"}
        assert speak(pool, "a").metrics.voice == JOE
