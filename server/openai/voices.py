"""POST and DELETE /v1/audio/voices: a recording becomes a saved voice, and is deleted again."""
from __future__ import annotations

import asyncio
from datetime import datetime

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse

from models.errors import SpeechError
from models.voices import saved
from models.voices.library import Library
from models.voices.record import SavedVoice
from server import making
from server.desk import Desk
from server.limits import Limits
from server.openai.errors import OpenAIRoute
from server.openai.form import among, read_fields
from server.owner import known_owner
from server.reports import NO_STORE
from server.voices import with_room
from server.workbench import Work

FIELDS = ("name", "audio_sample", "consent", "type", "language", "transcript", "shared", "fit")
YES = ("true", "1", "yes")
NO = ("false", "0", "no", "")
_FORM = {"type": "object", "required": ["name", "audio_sample", "consent"], "properties": {
    "name": {"type": "string"}, "audio_sample": {"type": "string", "format": "binary"},
    "consent": {"type": "string", "description": "Who says that the speaker agrees."},
    "type": {"type": "string", "enum": ["audio_sample"], "default": "audio_sample"},
    "language": {"type": "string", "description": "Of the recording; found by listening when left out."},
    "transcript": {"type": "string", "description": "What is said in it; found by listening when left out."},
    "shared": {"type": "boolean", "default": False, "description": "Whether everybody may speak in it."},
    "fit": {"type": "boolean", "default": False,
            "description": "Whether to spend up to two minutes on making it more alike before answering."},
}}


def openai_voice_routes(limits: Limits) -> APIRouter:
    router = APIRouter(route_class=OpenAIRoute)
    desk = Desk("voices-api", 1, 8)

    @router.post("/v1/audio/voices", dependencies=[Depends(limits.counted)], openapi_extra={"requestBody": {
        "required": True, "content": {"multipart/form-data": {"schema": _FORM}}}})
    async def add(request: Request):
        """Keep a recording of up to 20 MB as a voice of the caller's; its id is a `voice` to speak in."""
        owner = known_owner(request)
        data, values = await read_fields(request, "audio_sample", FIELDS)
        given = {name: texts[-1] for name, texts in values.items()}
        among("type", given.get("type", "audio_sample"), ("audio_sample",))
        if not given.get("name", "").strip():
            raise SpeechError("field_invalid", "name", name="name", expected={"en": "a name for the voice", "zh": "声音的名字"})
        if not given.get("consent", "").strip():
            raise SpeechError("consent_missing", "consent")
        for name in ("shared", "fit"):
            among(name, given.get(name, "").lower(), YES + NO)
        work = Work()
        try:
            voice = await desk(_made, data, given, owner, work)
        except asyncio.CancelledError:  # nobody waits for it any more
            work.stop.set()
            raise
        return JSONResponse(told(voice), headers=NO_STORE)

    @router.delete("/v1/audio/voices/{voice:path}")
    async def delete(voice: str, request: Request):
        """Delete a voice of the caller's; for a week the page can bring it back."""
        owner, voice_id = known_owner(request), voice.removeprefix(saved.PREFIX)
        await desk(saved.library().delete, voice_id, owner)
        return JSONResponse({"id": f"{saved.PREFIX}{voice_id}", "object": "audio.voice.deleted", "deleted": True},
                            headers=NO_STORE)

    return router


def told(voice: SavedVoice) -> dict:
    """As OpenAI's clients expect a voice."""
    return {"id": f"{saved.PREFIX}{voice.id}", "object": "audio.voice", "name": voice.name, "type": "audio_sample",
            "created_at": round(datetime.fromisoformat(voice.created).timestamp()), "language": voice.language,
            "likeness": voice.likeness, "seconds": voice.seconds, "shared": voice.shared}


def _made(data: bytes, given: dict[str, str], owner: str, work: Work) -> SavedVoice:
    library: Library = with_room(owner)  # known before the work is done
    reference = making.listen(making.check(data), given.get("transcript", ""), given.get("language", ""))
    make = making.fitted if given.get("fit", "").lower() in YES else making.first
    made = make(reference.clip, work)
    return library.save(reference.clip, given["name"], owner, given["consent"], language=reference.language,
                        states={saved.FITTED: made.state()}, likeness=round(made.likeness, 3),
                        shared=given.get("shared", "").lower() in YES)
