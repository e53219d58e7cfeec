"""POST /v1/audio/transcriptions: what is said in a recording, by Whisper base."""
from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from models.audio.decode import decode
from models.errors import SpeechError
from models.voices.captions import captions, to_srt, to_vtt
from models.voices.transcribe import Heard, hear
from server.limits import Limits
from server.openai.errors import OpenAIRoute
from server.openai.form import FIELDS, FORMATS, GRAINS, HearingForm, read_form
from server.reports import NO_STORE

WAITING = 8  # recordings that may be at hand: each holds its samples in memory

_FORM = {"type": "object", "required": ["file"], "properties": {
    **{name: {"type": "string"} for name in FIELDS},
    "file": {"type": "string", "format": "binary"},
    "response_format": {"type": "string", "enum": list(FORMATS), "default": "json"},
    "timestamp_granularities[]": {"type": "array", "items": {"type": "string", "enum": list(GRAINS)}},
}}


def hearing_routes(limits: Limits) -> APIRouter:
    router = APIRouter(route_class=OpenAIRoute)
    ear = ThreadPoolExecutor(1, "hearing")  # one recording is heard at a time
    at_hand = 0

    @router.post("/v1/audio/transcriptions", dependencies=[Depends(limits.counted)], openapi_extra={"requestBody": {"required": True, "content": {
        "multipart/form-data": {"schema": _FORM}}}})
    async def transcriptions(request: Request):
        """Write down what is said in a recording of up to 10 minutes and 20 MB."""
        nonlocal at_hand
        form, cancel = await read_form(request), threading.Event()  # a slow upload takes nobody's place
        if at_hand >= WAITING:
            raise SpeechError("hearing_busy", length=at_hand)
        at_hand += 1
        try:
            heard = asyncio.get_running_loop().run_in_executor(ear, _heard, form, cancel)
            gone = asyncio.create_task(_until_gone(request))
            try:
                await asyncio.wait({heard, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not heard.done():
                    raise SpeechError("cancelled")
                return _answer(form, *heard.result())
            finally:
                gone.cancel()
                cancel.set()
                heard.cancel()
        finally:
            at_hand -= 1

    return router


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _heard(form: HearingForm, cancel: threading.Event) -> tuple[Heard, float]:
    """What is said, and how many seconds the recording lasts."""
    decoded = decode(form.data)
    timed = form.response_format in ("verbose_json", "srt", "vtt")
    return hear(decoded.samples, decoded.sample_rate, form.language, timed, cancel), decoded.seconds


def _answer(form: HearingForm, heard: Heard, seconds: float) -> Response:
    match form.response_format:
        case "text":
            return PlainTextResponse(heard.text + "\n", headers=NO_STORE)
        case "srt":
            return PlainTextResponse(to_srt(captions(heard.words)), headers=NO_STORE, media_type="application/x-subrip")
        case "vtt":
            return PlainTextResponse(to_vtt(captions(heard.words)), headers=NO_STORE, media_type="text/vtt")
    body: dict = {"text": heard.text, "usage": {"type": "duration", "seconds": round(seconds, 3)}}
    if form.response_format == "verbose_json":
        body |= {"task": "transcribe", "language": heard.language, "duration": round(seconds, 3)}
        if not form.grains or "segment" in form.grains:
            body["segments"] = [{"id": number, "start": line.start, "end": line.end, "text": line.text}
                                for number, line in enumerate(captions(heard.words))]
        if "word" in form.grains:
            body["words"] = [{"word": word.text.strip(), "start": word.start, "end": word.end} for word in heard.words]
    return JSONResponse(body, headers=NO_STORE)
