"""How many threads torch may use, thread by thread.

A frame is hundreds of small products. Shared out over threads each of them ends in waiting for the slowest, and on a
busy machine that one is not even running: measured there, frames on one thread came six times as fast as on two.
"""
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

import torch

Result = TypeVar("Result")


def in_new_thread(work: Callable[[], Result]) -> Result:
    """`work()` in a thread that has torch's ordinary number of threads; its result or what it raised."""
    done: Future[Result] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    thread = Thread(target=run, name="pocket-tts-aside")
    thread.start()
    thread.join()
    return done.result()


def alone() -> None:
    """From now on torch works on the calling thread alone when it is called from here; other threads keep theirs.

    torch keeps a count for the calling thread and one that threads to come begin with: setting it sets both, and so
    the second is put back from a thread that ends at once.
    """
    ordinary = in_new_thread(torch.get_num_threads)
    torch.set_num_threads(1)
    in_new_thread(lambda: torch.set_num_threads(ordinary))
