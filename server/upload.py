"""Request bodies, capped while they are being read."""
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from models.errors import SpeechError

LINGER = 100_000_000  # bytes of a refused body that are still read, and dropped
AROUND = 64 * 1024  # bytes that a form's other fields and its own lines may take
PATIENCE = 5.0  # seconds for that
TOGETHER = 6  # uploads read at a time
SLOWEST = 120.0  # seconds one may take


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


_reading = 0


@contextlib.contextmanager
def _place() -> Iterator[None]:
    """One of the places for uploads. Raises SpeechError("cloning_busy") when there is none."""
    global _reading
    if _reading >= TOGETHER:
        raise SpeechError("cloning_busy", length=_reading)
    _reading += 1
    try:
        yield
    finally:
        _reading -= 1


class InMemory(MultiPartParser):
    """What is uploaded stays in memory: it is bounded anyway, and nothing of it ever lies on the disk."""

    spool_max_size = 1 << 30


async def read_upload(request: Request, megabytes: int, error: SpeechError) -> bytes:
    """The one file of a multipart form, in its field `file`.

    Raises SpeechError: form_invalid (also for one that takes minutes), field_invalid, cloning_busy or `error`.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise SpeechError("form_invalid", "file")
    pieces = capped(request, megabytes * 1_000_000 + AROUND, error)
    try:
        with _place():
            async with asyncio.timeout(SLOWEST):
                form = await InMemory(request.headers, pieces, max_files=1, max_fields=4, max_part_size=AROUND).parse()
    except (MultiPartException, ValueError, LookupError, TimeoutError) as fault:
        raise SpeechError("form_invalid", "file") from fault
    try:
        upload = form.get("file")
        if not isinstance(upload, UploadFile):
            raise SpeechError("field_invalid", "file", name="file", expected={"en": "a file", "zh": "一个文件"})
        return await upload.read()
    finally:
        await form.close()
