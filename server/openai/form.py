"""A multipart form with one recording, capped while it is being read."""
from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from models.audio.decode import MEGABYTES
from models.config import nearest
from models.errors import SpeechError
from server.making import language_of
from server.openai.names import HEARING_MODELS
from server.upload import AROUND, InMemory, capped

logging.getLogger("python_multipart").setLevel(logging.ERROR)  # it warns of each form that a caller got wrong

FORMATS = ("json", "text", "verbose_json", "srt", "vtt")
GRAINS = ("segment", "word")
IGNORED = ("prompt", "temperature")  # OpenAI's, and without effect here
FIELDS = ("file", "model", "language", "response_format", "timestamp_granularities[]", "stream", *IGNORED)


@dataclass(frozen=True)
class HearingForm:
    """data: the file's bytes. language: two or three letters, None to find it. grains: of verbose_json."""

    data: bytes
    language: str | None
    response_format: str
    grains: tuple[str, ...]


async def read_form(request: Request) -> HearingForm:
    """Raises SpeechError: form_invalid, clip_too_large, model_unknown, field_unknown or field_invalid."""
    data, values = await read_fields(request, "file", FIELDS)
    last = {name: texts[-1] for name, texts in values.items()}
    model = last.get("model", HEARING_MODELS[0])
    if model not in HEARING_MODELS:
        raise SpeechError("model_unknown", "model", name=model[:80], choices=HEARING_MODELS)
    if last.get("stream", "false").lower() not in ("false", "0", ""):
        raise SpeechError("field_invalid", "stream", name="stream",
                          expected={"en": "false: a transcript comes as a whole", "zh": "false：文字稿只能整体返回"})
    grains = tuple(among("timestamp_granularities[]", grain, GRAINS)
                   for grain in values.get("timestamp_granularities[]", []))
    return HearingForm(data, await asyncio.to_thread(language_of, last.get("language", "").strip()) or None,
                       among("response_format", last.get("response_format", "json"), FORMATS), grains)


async def read_fields(request: Request, file: str, fields: tuple[str, ...]) -> tuple[bytes, dict[str, list[str]]]:
    """The recording in the field `file`, and the texts of every other field that was sent.

    Raises SpeechError: form_invalid, clip_too_large, field_unknown or field_invalid.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise SpeechError("form_invalid", file)
    pieces = capped(request, MEGABYTES * 1_000_000 + AROUND, SpeechError("clip_too_large", file, limit=MEGABYTES))
    try:
        form = await InMemory(request.headers, pieces, max_files=1, max_fields=24, max_part_size=AROUND).parse()
    except (MultiPartException, ValueError, LookupError) as error:
        raise SpeechError("form_invalid", file) from error
    try:
        for name in form:
            if name not in fields:
                raise SpeechError("field_unknown", name, name=name[:80], nearest=nearest(name, fields))
        upload = form.get(file)
        if not isinstance(upload, UploadFile):
            raise SpeechError("field_invalid", file, name=file, expected={"en": "a recording", "zh": "一段录音"})
        values = {name: form.getlist(name) for name in form if name != file}
        for name, texts in values.items():
            if not all(isinstance(text, str) for text in texts):
                raise SpeechError("field_invalid", name, name=name, expected={"en": "a text", "zh": "文字"})
        return await upload.read(), values
    finally:
        await form.close()


def among(name: str, value: object, choices: tuple[str, ...]) -> str:
    if value not in choices:
        listed = ", ".join(choices)
        raise SpeechError("field_invalid", name, name=name, expected={"en": f"one of {listed}", "zh": f"以下之一：{listed}"})
    return value
