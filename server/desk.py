"""Work that would hold up the event loop, done by a few threads."""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from models.errors import SpeechError

T = TypeVar("T")


class Once:
    """Work that is done once, for the first who asks; others wait for it. After a failure it is tried again.

    Called on the event loop. Raises what the work raises.
    """

    def __init__(self, work: Callable[[], None]):
        self._work, self._done = work, None

    async def __call__(self) -> None:
        done = self._done
        if done is None or done.done() and (done.cancelled() or done.exception()):
            done = self._done = asyncio.get_running_loop().run_in_executor(None, self._work)
            done.add_done_callback(_looked_at)
        await asyncio.shield(done)


class Desk:
    """With a bounded line before it. hands: how many are served at a time. most: how many may be there in all; more are
    told to come back."""

    def __init__(self, name: str, hands: int, most: int):
        self._threads = ThreadPoolExecutor(hands, name)
        self._most, self._there = most, 0

    async def __call__(self, work: Callable[..., T], *arguments: Any, **more: Any) -> T:
        """What `work` returns. Raises SpeechError("cloning_busy") when the line is full."""
        if self._there >= self._most:
            raise SpeechError("cloning_busy", length=self._there)
        self._there += 1
        done = asyncio.get_running_loop().run_in_executor(self._threads, lambda: work(*arguments, **more))
        done.add_done_callback(self._left)  # also when the one who asked has gone
        done.add_done_callback(_looked_at)
        return await asyncio.shield(done)

    def _left(self, done: asyncio.Future) -> None:
        self._there -= 1


def _looked_at(done: asyncio.Future) -> None:
    """So that nothing is logged when the one who asked has gone."""
    if not done.cancelled():
        done.exception()
