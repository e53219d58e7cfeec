from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.slots import Slots


def test_second_request_for_a_key_is_a_hit_and_makes_nothing():
    slots, made = Slots("style_cache", 2), []

    def make():
        made.append(1)
        return "state"

    assert slots.get("a", make) == ("state", False)
    assert slots.get("a", make) == ("state", True)
    assert made == [1]


def test_least_recently_used_leaves_first():
    slots = Slots("style_cache", 2, size_of=len)
    slots.get("a", lambda: "xx")
    slots.get("b", lambda: "yyy")
    slots.get("a", lambda: "never")
    slots.get("c", lambda: "z")  # b is the oldest now
    assert slots.get("a", lambda: "new") == ("xx", True)
    assert slots.get("b", lambda: "again") == ("again", False)
    assert slots.report() == {"name": "style_cache", "capacity": 2, "entries": 2, "hits": 2, "misses": 4,
                              "evictions": 2, "bytes": 7}


def test_a_failing_make_leaves_no_entry():
    slots = Slots("style_cache", 2)
    with pytest.raises(ZeroDivisionError):
        slots.get("a", lambda: 1 / 0)
    assert slots.get("a", lambda: "fine") == ("fine", False)


def test_no_capacity_keeps_nothing():
    slots = Slots("off", 0)
    assert slots.get("a", lambda: 1) == (1, False)
    assert slots.get("a", lambda: 2) == (2, False)
    assert slots.report()["entries"] == 0


def test_threads_that_miss_together_get_one_value():
    slots, gate, got = Slots("shared", 4), threading.Barrier(4), []

    def ask(number):
        got.append(slots.get("key", lambda: (gate.wait(5), number))[0])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join(10) for thread in threads]
    assert len(got) == 4 and len(set(got)) == 1


@given(st.lists(st.integers(0, 6)), st.integers(0, 4))
def test_counts_always_add_up(keys, capacity):
    slots = Slots("any", capacity, size_of=lambda value: 10)
    for key in keys:
        assert slots.get(key, lambda key=key: key)[0] == key
    report = slots.report()
    assert report["hits"] + report["misses"] == len(keys)
    assert report["entries"] <= capacity and report["bytes"] == 10 * report["entries"]
    if capacity:
        assert report["misses"] - report["evictions"] == report["entries"]
