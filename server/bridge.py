"""A session's events on the event loop: no thread a stream, and a reader's pace reaches the session."""
from __future__ import annotations

import asyncio

from models.events import Event, SpeechRequest
from models.job import Job
from models.session import Session
from server.limits import Place


class EventStream:
    """One request's events, taken with `next`. Always `close` it: that cancels what is still running and leaves its
    place to others."""

    def __init__(self, session: Session, request: SpeechRequest, place: Place):
        self._session, self._request, self._place = session, request, place
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
        return await self._events.get()

    def taken(self, seconds: float) -> None:
        """This much audio has been handed to the reader."""
        self._job.taken(seconds)

    def close(self) -> None:
        self._place.leave()
        if self._job is not None:
            self._job.cancel()
