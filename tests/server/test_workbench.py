"""Lines before what takes long: in order, bounded, and left when told to."""
from __future__ import annotations

import asyncio
import threading

import pytest

from models.errors import SpeechError
from server import workbench
from server.desk import Desk, Once
from server.workbench import Workbench
from tests.waiting import until


@pytest.fixture
def bench():
    bench = Workbench("test")
    yield bench
    bench.close()


def test_one_at_a_time_in_order_and_each_knows_its_place(bench):
    go, seen = threading.Event(), []
    works = [bench.start(lambda work, number=number: (go.wait(10), seen.append(number))) for number in range(3)]
    until(lambda: works[0].state == "running")
    assert [work.state for work in works] == ["running", "waiting", "waiting"]
    assert [bench.before(work) for work in works] == [0, 1, 2]
    go.set()
    until(lambda: all(work.over for work in works))
    assert seen == [0, 1, 2] and [bench.before(work) for work in works] == [0, 0, 0]


def test_what_is_stopped_before_it_begins_never_does(bench):
    go, seen = threading.Event(), []
    first, second = bench.start(lambda work: go.wait(10)), bench.start(lambda work: seen.append(2))
    second.stop.set()
    go.set()
    until(lambda: second.over)
    assert (first.state, second.state, seen) == ("done", "stopped", [])


def test_what_waits_is_ended_at_once_and_leaves_the_line(bench):
    go = threading.Event()
    works = [bench.start(lambda work: go.wait(10)) for _ in range(workbench.MOST)]
    until(lambda: works[0].state == "running")
    for work in works[1:]:
        bench.stop(work)
        assert work.state == "stopped" and bench.before(work) == 0
    assert bench.start(lambda work: 7).state == "waiting"
    go.set()
    until(lambda: works[0].over)
    assert works[0].state == "done"


def test_the_line_has_an_end(bench):
    go = threading.Event()
    works = [bench.start(lambda work: go.wait(10)) for _ in range(workbench.MOST)]
    with pytest.raises(SpeechError) as caught:
        bench.start(lambda work: None)
    assert caught.value.code == "cloning_busy" and caught.value.status == 503
    go.set()
    until(lambda: all(work.over for work in works))
    assert bench.start(lambda work: 7).state in ("waiting", "running", "done")


@pytest.mark.parametrize(("raised", "code"), [(SpeechError("clip_silent", "clip"), "clip_silent"), (KeyError("x"), "cloning_failed")])
def test_what_fails_says_why_and_the_next_goes_on(bench, raised, code):
    def fail(work):
        raise raised

    failed, fine = bench.start(fail), bench.start(lambda work: 7)
    until(lambda: fine.over)
    assert (failed.state, failed.error.code, failed.result) == ("failed", code, None)
    assert (fine.state, fine.result) == ("done", 7)


def test_closing_ends_all(bench):
    running = bench.start(lambda work: work.stop.wait(10))
    waiting = bench.start(lambda work: 7)
    until(lambda: running.state == "running")
    bench.close()
    until(lambda: running.over and waiting.over)
    assert running.result is True and waiting.state == "stopped"


def test_a_desk_turns_away_who_comes_too_many():
    async def visit() -> None:
        desk, go = Desk("test", 1, 2), threading.Event()
        there = [asyncio.create_task(desk(go.wait, 10)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(SpeechError) as caught:
            await desk(lambda: 1)
        assert caught.value.code == "cloning_busy"
        go.set()
        assert await asyncio.gather(*there) == [True, True]
        assert await desk(lambda: 1) == 1

    asyncio.run(visit())


def test_who_goes_away_keeps_the_place_until_the_work_is_done():
    async def visit() -> None:
        desk, go = Desk("test", 1, 1), threading.Event()
        gone = asyncio.create_task(desk(go.wait, 10))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        with pytest.raises(SpeechError):
            await desk(lambda: 1)
        go.set()
        for _ in range(200):
            await asyncio.sleep(0.01)
            try:
                assert await desk(lambda: 1) == 1
                return
            except SpeechError:
                continue
        raise AssertionError("the place never became free")

    asyncio.run(visit())


def test_once_is_once_for_all_who_ask_and_again_after_a_failure():
    began, go, faults = [], threading.Event(), [RuntimeError("no network"), None]

    def work() -> None:
        began.append(1)
        go.wait(10)
        if fault := faults[len(began) - 1]:
            raise fault

    async def visit() -> None:
        once = Once(work)
        there = [asyncio.create_task(once()) for _ in range(3)]
        gone = asyncio.create_task(once())
        await asyncio.sleep(0)
        gone.cancel()
        go.set()
        assert [str(told) for told in await asyncio.gather(*there, return_exceptions=True)] == ["no network"] * 3
        await asyncio.gather(once(), once())
        await once()
        assert len(began) == 2

    asyncio.run(visit())
