"""POST /api/stream: PCM as it is made."""
from __future__ import annotations

import asyncio
import time
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from models.audio.encode import synthetic_note, to_pcm16
from models.errors import SpeechError
from models.events import AudioChunk, Done, Failed, Started
from models.metrics import RequestMetrics
from models.pool import Pool
from server.bridge import EventStream
from server.errors import error_response
from server.limits import Limits
from server.owner import owner_of
from server.saved import destined
from server.schema import EXPECTED, SpeechBody, read_body, to_request

PIECE = 0.5  # seconds of audio a write: small enough that a slow reader's pace is felt


class SoundResponse(Response):
    """An ASGI answer that starts with the first sound, so that whatever fails before it gets its proper status.

    A closed connection cancels the work at once, also while it is still queued. A failure after the first sound ends
    the connection without its closing chunk: the client sees a broken transfer, and /api/requests/ID says why.
    What the sound looks like on the wire is a subclass's matter.
    """

    background = None  # FastAPI looks for it; nothing else of Response's is used, so its __init__ isn't called

    def __init__(self, stream: EventStream, request_id: str, accept_language: str | None):
        self._stream, self._id, self._accept_language = stream, request_id, accept_language

    # -- what a subclass decides

    def _headers(self, rate: int, segments: int) -> dict[str, object]:
        """The headers of its own; called once, before the first piece."""
        raise NotImplementedError

    async def _piece(self, samples: np.ndarray, offset: float) -> bytes:
        """The bytes for samples that begin `offset` seconds into the sound; maybe none yet."""
        raise NotImplementedError

    async def _end(self, metrics: RequestMetrics) -> bytes:
        """The last bytes of a finished answer."""
        return b""

    def _broken(self, error: SpeechError) -> bytes | None:
        """The last bytes of an answer that failed after its first sound; None to break the transfer off."""
        return None

    def _refusal(self, error: SpeechError) -> Response:
        """The whole answer when it failed before."""
        return error_response(error, self._accept_language)

    # -- the life of an answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watcher = asyncio.create_task(self._until_gone(receive))
        try:
            await self._send(scope, receive, send)
        finally:
            self._stream.close()
            watcher.cancel()

    async def _until_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._stream.close()

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        rate, segments, begun = 0, 0, False
        while True:
            match await self._stream.next():
                case Started(sample_rate=rate, segments=segments):
                    pass
                case AudioChunk(samples=samples, offset=offset):
                    if not begun:
                        begun = True
                        await send({"type": "http.response.start", "status": 200,
                                    "headers": self._all_headers(rate, segments)})
                    step = max(1, int(rate * PIECE))
                    for start in range(0, len(samples), step):
                        piece = samples[start:start + step]
                        if data := await self._piece(piece, offset + start / rate):
                            await send({"type": "http.response.body", "body": data, "more_body": True})
                        self._stream.taken(len(piece) / rate)
                case Done(metrics=metrics):
                    await send({"type": "http.response.body", "body": await self._end(metrics), "more_body": False})
                    return
                case Failed(error=error):
                    if not begun:
                        await self._refusal(error)(scope, receive, send)
                    elif (data := self._broken(error)) is not None:
                        await send({"type": "http.response.body", "body": data, "more_body": False})
                    return

    def _all_headers(self, rate: int, segments: int) -> list[tuple[bytes, bytes]]:
        values = {**self._headers(rate, segments), "x-request-id": self._id, "x-segments": segments,
                  "cache-control": "no-store", "x-accel-buffering": "no"}
        return [(name.encode(), str(value).encode()) for name, value in values.items()]


class PcmResponse(SoundResponse):
    """Signed 16-bit little-endian mono samples at the model's own rate. `X-Comment` is what a file of them is to say of
    itself, percent-encoded UTF-8."""

    def __init__(self, stream: EventStream, request_id: str, accept_language: str | None, cloned: str):
        super().__init__(stream, request_id, accept_language)
        self._note = synthetic_note(cloned)

    def _headers(self, rate: int, segments: int) -> dict[str, object]:
        return {"content-type": f"audio/L16; rate={rate}; channels=1; endianness=little-endian", "x-sample-rate": rate,
                "x-comment": quote(self._note)}

    async def _piece(self, samples: np.ndarray, offset: float) -> bytes:
        return to_pcm16(samples)


def stream_routes(pool: Pool, limits: Limits) -> APIRouter:
    router = APIRouter()

    @router.post("/api/stream", openapi_extra={"requestBody": {"required": True, "content": {
        "application/json": {"schema": SpeechBody.model_json_schema()}}}})
    async def stream(request: Request):
        """Speak a text: the body is signed 16-bit little-endian mono PCM, sent as it is made."""
        arrived = time.monotonic()
        body = await read_body(request)
        if body.id and pool.book.get(body.id):
            raise SpeechError("field_invalid", "id", name="id", expected=EXPECTED["id"])
        speech = to_request(body, pool.config.server, arrived)
        to = await destined(pool, speech, owner_of(request))
        events = EventStream(to, limits.admit(request, len(speech.text)))
        await events.open()
        return PcmResponse(events, speech.id, request.headers.get("accept-language"), to.cloned)

    return router
