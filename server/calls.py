"""Speaking for whoever calls from inside this process, as the page's named endpoints do, under the same rules as HTTP."""
from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.requests import HTTPConnection

from models.audio.encode import synthetic_note, to_pcm16, to_wav
from models.errors import SpeechError
from models.events import AudioChunk, Done, Failed, Started
from models.pool import Pool
from server.bridge import EventStream
from server.language import preferred
from server.limits import Limits
from server.owner import owner_of
from server.saved import destined
from server.schema import EXPECTED, SpeechBody, checked, to_request


@dataclass(frozen=True)
class Spoken:
    """wav: a 16-bit mono file that says it is synthetic. figures: the request's."""

    wav: bytes
    figures: dict[str, Any]


class Calls:
    """caller: the connection that asks, whose limits and voices count. Fields are those of POST /api/stream."""

    def __init__(self, pool: Pool, limits: Limits):
        self._pool, self._limits = pool, limits

    def models(self) -> dict[str, Any]:
        """As GET /api/models answers."""
        return self._pool.catalog()

    def sentence(self, error: SpeechError, caller: HTTPConnection) -> str:
        """What went wrong, in the caller's language."""
        return error.sentence(preferred(caller.headers.get("accept-language")))

    async def speak(self, caller: HTTPConnection, **fields: Any) -> Spoken:
        """Raises SpeechError."""
        rate, pieces, figures, cloned = 0, [], {}, ""
        async for event, cloned in self._events(caller, fields):
            match event:
                case Started(sample_rate=rate):
                    pass
                case AudioChunk(samples=samples):
                    pieces.append(samples)
                case Done(metrics=metrics):
                    figures = metrics.report()
        return Spoken(to_wav(np.concatenate(pieces), rate, synthetic_note(cloned)), figures)

    async def stream(self, caller: HTTPConnection, **fields: Any) -> AsyncIterator[dict[str, Any]]:
        """Self-describing pieces: {"audio": base64 of 16-bit PCM, "sample_rate", "index", "offset" in seconds}, and at the
        end {"metrics"}. Raises SpeechError."""
        rate, index = 0, 0
        async for event, _ in self._events(caller, fields):
            match event:
                case Started(sample_rate=rate):
                    pass
                case AudioChunk(samples=samples, offset=offset):
                    yield {"audio": base64.b64encode(to_pcm16(samples)).decode(), "sample_rate": rate, "index": index,
                           "offset": round(offset, 6)}
                    index += 1
                case Done(metrics=metrics):
                    yield {"metrics": metrics.report()}

    async def _events(self, caller: HTTPConnection, fields: dict[str, Any]) -> AsyncIterator[tuple[Any, str]]:
        """Each event with the names of the saved voices it speaks in; ends after Done."""
        speech = to_request(checked(SpeechBody, fields, EXPECTED), self._pool.config.server)
        to = await destined(self._pool, speech, owner_of(caller))
        events = EventStream(to, self._limits.admit(caller, len(speech.text)))
        await events.open()
        rate = 0
        try:
            while True:
                event = await events.next()
                if isinstance(event, Failed):
                    raise event.error
                if isinstance(event, Started):
                    rate = event.sample_rate
                yield event, to.cloned
                if isinstance(event, AudioChunk):
                    events.taken(len(event.samples) / rate)
                if isinstance(event, Done):
                    return
        finally:
            events.close()
