"""Work that would hold up the event loop, done by a few threads with a bounded line before them."""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from models.errors import SpeechError

T = TypeVar("T")


class Desk:
    """hands: how many are served at a time. most: how many may be there in all; more are told to come back."""

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
        return await asyncio.shield(done)

    def _left(self, done: asyncio.Future) -> None:
        self._there -= 1
        if not done.cancelled():
            done.exception()  # looked at, so that nothing is logged when the one who asked has gone
