"""POST /v1/audio/speech: any of six formats, sent while it is being made, as a file or as server-sent events."""
from __future__ import annotations

import asyncio
import base64
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from models.audio.encode import synthetic_note
from models.audio.streaming import FORMATS
from models.errors import SpeechError
from models.events import SpeechRequest
from models.families import family
from models.metrics import RequestMetrics
from models.pool import Pool
from server.bridge import EventStream
from server.language import preferred
from server.limits import Limits
from server.openai.errors import OpenAIRoute, error_body, error_response
from server.openai.names import speech_model, speech_voice
from server.owner import owner_of
from server.saved import destined
from server.schema import EXPECTED, SpeechBody, checked, read_json, to_request
from server.stream import SoundResponse

ENCODING = ThreadPoolExecutor(2, "encoding")  # of their own: the loop's threads may wait for a model to be loaded
KINDS = {
    **EXPECTED,
    "input": EXPECTED["text"],
    "voice": {"en": "the id of a voice, or an object with it as its id", "zh": "声音编号，或以其为 id 的对象"},
    "instructions": {"en": "a text that says how to speak", "zh": "说明如何朗读的文字"},
    "response_format": {"en": f"one of {', '.join(FORMATS)}", "zh": f"以下之一：{', '.join(FORMATS)}"},
    "stream_format": {"en": "audio or sse", "zh": "audio 或 sse"},
}


class VoiceId(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(max_length=2000)


class OpenAISpeechBody(BaseModel):
    """OpenAI's fields; `language`, `seed` and `options` are ours."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = Field(max_length=200, description="A model's id, auto, or one of tts-1, tts-1-hd, gpt-4o-mini-tts.")
    input: str = Field(description="What to say.")
    voice: str | VoiceId = Field("", description="A voice's id or mix; OpenAI's names choose the default voice.",
                                 json_schema_extra={"anyOf": [{"type": "string"}, {
                                     "type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}]})
    instructions: str | None = Field(None, max_length=4096, description="How to say it, for models that can be told.")
    response_format: Literal["mp3", "opus", "aac", "flac", "wav", "pcm"] | None = "mp3"
    speed: float | None = Field(1.0, ge=0.5, le=2.0, allow_inf_nan=False,
                                description="0.5 to 2; 1 is the model's own pace.")
    stream_format: Literal["audio", "sse"] | None = "audio"
    language: str = Field("auto", max_length=20, description="Language tag, or auto to find it in the text.")
    seed: int | None = Field(None, ge=0, le=2**32 - 1, description="Same seed, same sound.")
    options: dict[str, Any] = Field({}, description="The model's own controls, as /api/models lists them.")


# without the definitions that OpenAPI would look for elsewhere
SCHEMA = {key: value for key, value in OpenAISpeechBody.model_json_schema().items() if key != "$defs"}
ANSWERS = {200: {"content": {mime: {"schema": {"type": "string", "format": "binary"}}
                             for mime in [*(form.mime for form in FORMATS.values()), "text/event-stream"]}}}


class FileResponse(SoundResponse):
    """The sound as one growing file. cloned: the saved voice it is in, for the file's comment."""

    def __init__(self, stream: EventStream, request_id: str, accept_language: str | None, form: str, cloned: str):
        super().__init__(stream, request_id, accept_language)
        self._form, self._note, self._encoder = form, synthetic_note(cloned), None

    def _headers(self, rate: int, segments: int) -> dict[str, object]:
        self._encoder = FORMATS[self._form].create(rate, self._note)
        return {"content-type": FORMATS[self._form].mime, "x-sample-rate": self._encoder.rate}

    async def _piece(self, samples: np.ndarray, offset: float) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(ENCODING, self._encoder.feed, samples)

    async def _end(self, metrics: RequestMetrics) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(ENCODING, self._encoder.finish)

    def _refusal(self, error: SpeechError) -> Response:
        return error_response(error, self._accept_language)


class SseResponse(FileResponse):
    """The same file in pieces: each event says at which rate, the how many-eth and from where in the sound it is."""

    def __init__(self, stream: EventStream, request_id: str, accept_language: str | None, form: str, cloned: str,
                 text: str):
        super().__init__(stream, request_id, accept_language, form, cloned)
        self._characters, self._index, self._heard = len(text), 0, 0.0

    def _headers(self, rate: int, segments: int) -> dict[str, object]:
        self._rate = rate
        return {**super()._headers(rate, segments), "content-type": "text/event-stream; charset=utf-8"}

    async def _piece(self, samples: np.ndarray, offset: float) -> bytes:
        data = await super()._piece(samples, offset)
        self._heard = offset + len(samples) / self._rate
        return self._delta(data, offset)

    async def _end(self, metrics: RequestMetrics) -> bytes:
        rest = self._delta(await super()._end(metrics), self._heard)
        usage = {"input_tokens": self._characters, "output_tokens": 0, "total_tokens": self._characters}
        return rest + _event("speech.audio.done", usage=usage, request_id=self._id, metrics=metrics.report())

    def _broken(self, error: SpeechError) -> bytes:
        return _event("error", **error_body(error, preferred(self._accept_language)))

    def _delta(self, data: bytes, offset: float) -> bytes:
        if not data:
            return b""
        event = _event("speech.audio.delta", audio=base64.b64encode(data).decode(), sample_rate=self._encoder.rate,
                       index=self._index, offset=round(offset, 6))
        self._index += 1
        return event


def _event(kind: str, **values: object) -> bytes:
    return b"data: " + json.dumps({"type": kind, **values}).encode() + b"\n\n"


def speech_request(body: OpenAISpeechBody, pool: Pool, arrived: float) -> SpeechRequest:
    """The request a session takes, of the session that will take it.

    Raises SpeechError for a field out of bounds or an unknown model.
    """
    voice = body.voice if isinstance(body.voice, str) else body.voice.id
    speed = 1.0 if body.speed is None else body.speed
    ours = checked(SpeechBody, {"text": body.input, "model": speech_model(body.model, pool), "voice": voice,
                                "language": body.language, "speed": speed, "seed": body.seed, "options": body.options},
                   KINDS)
    request = to_request(ours, pool.config.server, arrived)
    session = pool.session_for(request)
    known = {entry["id"] for entry in session.catalog()["voices"]}
    options = dict(request.options)
    if body.instructions and "instruction" in family(session.spec.family).controls:
        options.setdefault("instruction", body.instructions)
    return replace(request, model=session.spec.id, voice=speech_voice(voice, known), options=options)


def speech_routes(pool: Pool, limits: Limits) -> APIRouter:
    router = APIRouter(route_class=OpenAIRoute)

    @router.post("/v1/audio/speech", response_class=Response, responses=ANSWERS, openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": SCHEMA}}}})
    async def speech(request: Request):
        """Speak a text: a file in the format asked for, or the same in server-sent events, sent as it is made."""
        arrived = time.monotonic()
        body = checked(OpenAISpeechBody, await read_json(request), KINDS)
        wish = speech_request(body, pool, arrived)
        to = await destined(pool, wish, owner_of(request))
        events = EventStream(to, limits.admit(request, len(wish.text)))
        await events.open()
        accepts, form = request.headers.get("accept-language"), body.response_format or "mp3"
        if body.stream_format == "sse":
            return SseResponse(events, wish.id, accepts, form, to.cloned, body.input)
        return FileResponse(events, wish.id, accepts, form, to.cloned)

    return router
