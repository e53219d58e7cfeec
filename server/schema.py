"""The body of a speech request, checked field by field."""
from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from models.config import ServerConfig, nearest
from models.errors import SpeechError
from models.events import SpeechRequest
from server.upload import capped, drain

MAX_BODY = 4 * 1024 * 1024  # bytes; far above the text limit in any encoding
Body = TypeVar("Body", bound=BaseModel)
EXPECTED = {
    "text": {"en": "the text to speak", "zh": "要朗读的文字"},
    "model": {"en": "the id of a model", "zh": "模型编号"},
    "voice": {"en": "the id of a voice", "zh": "声音编号"},
    "language": {"en": "auto or a language tag such as en, zh or ja", "zh": "auto 或语言代码，例如 en、zh、ja"},
    "speed": {"en": "a number from 0.5 to 2", "zh": "0.5 到 2 之间的数字"},
    "seed": {"en": "a whole number from 0 to 4294967295", "zh": "0 到 4294967295 之间的整数"},
    "options": {"en": "an object with the model's controls", "zh": "包含模型控制项的对象"},
    "id": {"en": "32 hexadecimal digits not used before", "zh": "未使用过的 32 位十六进制数"},
}


class SpeechBody(BaseModel):
    """Text to speech; only `text` is needed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(description="What to say.")
    model: str = Field("", max_length=200, description="Model id, empty for the default one, \"auto\" by language.")
    voice: str = Field("", max_length=2000, description="Voice id or mix, empty for the language's default voice.")
    language: str = Field("auto", max_length=20, description="Language tag, or auto to find it in the text.")
    speed: float = Field(1.0, ge=0.5, le=2.0, allow_inf_nan=False, description="1 is the model's own pace.")
    seed: int | None = Field(None, ge=0, le=2**32 - 1, description="Same seed, same sound.")
    options: dict[str, Any] = Field({}, description="The model's own controls, as /api/models lists them.")
    id: str | None = Field(None, pattern="^[0-9a-f]{32}$", description="The request's id, chosen by the caller.")


async def read_json(request: Request) -> dict:
    """The body as an object, capped while it is being read. Raises SpeechError: body_invalid or body_too_large."""
    raw = bytearray()
    try:
        async for piece in capped(request, MAX_BODY, SpeechError("body_too_large", limit=MAX_BODY // 1024 // 1024)):
            raw += piece
    except SpeechError:
        await drain(request)
        raise
    try:
        data = json.loads(raw)
        json.dumps(data, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise SpeechError("body_invalid") from error
    if not isinstance(data, dict):
        raise SpeechError("body_invalid")
    return data


def checked(kind: type[Body], data: dict, expected: Mapping[str, Mapping[str, str]]) -> Body:
    """The object's fields as `kind`; expected: what each must be. Raises SpeechError field_unknown or field_invalid."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            raise SpeechError("field_unknown", name, name=name, nearest=nearest(name, kind.model_fields)) from error
        raise SpeechError("field_invalid", name, name=name, expected=expected[name]) from error


async def read_body(request: Request) -> SpeechBody:
    """Raises SpeechError: body_invalid, body_too_large, field_unknown or field_invalid (which name the field)."""
    return checked(SpeechBody, await read_json(request), EXPECTED)


def to_request(body: SpeechBody, config: ServerConfig, arrived: float | None = None) -> SpeechRequest:
    """The request a session takes. Raises SpeechError("text_too_long")."""
    if len(body.text) > config.text_limit:
        raise SpeechError("text_too_long", "text", length=len(body.text), limit=config.text_limit)
    own = {"id": body.id} if body.id else {}
    return SpeechRequest(body.text, body.model, body.voice, body.language, body.speed, body.seed, body.options,
                         deadline=config.deadline, arrived=arrived or time.monotonic(), **own)
