"""A session's events on the event loop: no thread a stream, and a reader's pace reaches the session."""
from __future__ import annotations

import asyncio
from dataclasses import replace

from models.audio.watermark import marked
from models.events import AudioChunk, Event, SpeechRequest, Started
from models.job import Job
from server.limits import Place
from server.saved import Destined


class EventStream:
    """One request's events, taken with `next`. Always `close` it: that cancels what is still running and leaves its
    place to others."""

    def __init__(self, to: Destined, place: Place):
        self._session, self._request, self._marked, self._place = to.session, to.request, to.marked, place
        self._after = to.after
        self._rate = 0
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._job: Job | None = None

    async def open(self) -> None:
        """Queue the request. Raises SpeechError when it can't be served."""
        try:
            self._job = await asyncio.to_thread(self._session.submit, self._request, self._sink)
        except BaseException:
            self._place.leave()
            raise

    def _sink(self, event: Event) -> None:
        self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def next(self) -> Event:
        event = await self._events.get()
        if isinstance(event, Started):
            self._rate = event.sample_rate
        if self._marked and isinstance(event, AudioChunk):
            event = replace(event, samples=await asyncio.to_thread(marked, event.samples, self._rate))
        return event

    def taken(self, seconds: float) -> None:
        """This much audio has been handed to the reader."""
        self._job.taken(seconds)

    def close(self) -> None:
        self._place.leave()
        if self._after is not None and self._job is not None:
            self._loop.run_in_executor(None, self._after)
            self._after = None
        if self._job is not None:
            self._job.cancel()
