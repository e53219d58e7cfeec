"""Request bodies, capped while they are being read."""
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request

from models.errors import SpeechError

LINGER = 100_000_000  # bytes of a refused body that are still read, and dropped
PATIENCE = 5.0  # seconds for that


async def capped(request: Request, limit: int, error: SpeechError) -> AsyncIterator[bytes]:
    """The body's pieces; raises `error` once it says that it is, or is, larger than `limit` bytes."""
    told = request.headers.get("content-length", "")
    if told.isdecimal() and len(told) < 20 and int(told) > limit:
        raise error
    total = 0
    async for piece in request.stream():
        total += len(piece)
        if total > limit:
            raise error
        yield piece


async def drain(request: Request) -> None:
    """Read the rest of a body that is refused: most clients only look for an answer once they have sent all, and a
    connection that is closed before takes the answer with it. Bounded in size and time."""
    total = 0
    with contextlib.suppress(TimeoutError, ClientDisconnect, RuntimeError):  # RuntimeError: it has been read to its end
        async with asyncio.timeout(PATIENCE):
            async for piece in request.stream():
                total += len(piece)
                if total > LINGER:
                    return
