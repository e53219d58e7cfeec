"""/api/voices: the saved voices of whoever asks, and those that are shared."""
from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from models.errors import SpeechError
from models.voices import saved
from models.voices.archive import MOST_BYTES
from models.voices.library import Library
from models.voices.record import SavedVoice
from server.clips import FILE
from server.desk import Desk
from server.drafts import Draft, Drafts
from server.owner import known_owner, owner_of
from server.reports import NO_STORE
from server.schema import checked, read_json
from server.upload import drain, read_upload

MOST = 200  # voices of one owner
EXPECTED = {
    "clip": {"en": "the handle of a checked clip", "zh": "已检查录音的编号"},
    "name": {"en": "a name for the voice", "zh": "声音的名字"},
    "who": {"en": "who says that the speaker agrees", "zh": "是谁说明本人同意"},
    "consent": {"en": "true once the speaker has agreed", "zh": "本人同意后为 true"},
    "language": {"en": "a tag such as en or zh", "zh": "语言代码，如 en 或 zh"},
    "transcript": {"en": "what is said in the clip", "zh": "录音中所说的文字"},
    "notes": {"en": "text", "zh": "文字"},
    "tags": {"en": "a list of texts", "zh": "文字列表"},
    "shared": {"en": "true or false", "zh": "true 或 false"},
    "pinned": {"en": "true or false", "zh": "true 或 false"},
}


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SaveBody(_Body):
    """A checked clip as a voice, with what has been made of it."""

    clip: str = Field(max_length=64)
    name: str = Field(max_length=400)
    who: str = Field(max_length=400, description="Who says that the speaker agrees.")
    consent: bool = Field(description="Whether the speaker agrees.")
    language: str | None = Field(None, max_length=20)
    transcript: str | None = Field(None, max_length=10_000)
    notes: str = Field("", max_length=4000)
    tags: list[str] = Field([], max_length=12)
    shared: bool = Field(False, description="Whether everybody may speak in it.")


class EditBody(_Body):
    name: str = Field("", max_length=400)
    language: str = Field("", max_length=20)
    transcript: str = Field("", max_length=10_000)
    notes: str = Field("", max_length=4000)
    tags: list[str] = Field([], max_length=12)
    shared: bool = False
    pinned: bool = False


class CopyBody(_Body):
    name: str = Field(max_length=400)


def _takes(kind: type[BaseModel]) -> dict:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": kind.model_json_schema()}}}}


def voice_routes(drafts: Drafts) -> APIRouter:
    router = APIRouter()
    desk = Desk("voices", 2, 24)

    @router.get("/api/voices")
    async def listed(request: Request):
        """What the asker may speak in. `?search=` words, `?tag=`."""
        wanted = request.query_params
        owner = owner_of(request)
        found = await desk(_list, owner, wanted.get("search", "")[:200], wanted.get("tag", "")[:80])
        return JSONResponse({"voices": found}, headers=NO_STORE)

    @router.post("/api/voices", status_code=201, openapi_extra=_takes(SaveBody))
    async def save(request: Request):
        """Keep a checked clip as a voice."""
        owner = known_owner(request)
        body = checked(SaveBody, await read_json(request), EXPECTED)
        draft = drafts.get(body.clip, owner)
        if not body.consent:
            raise SpeechError("consent_missing", "consent")
        if any(work is not None and not work.over for work in (draft.preview, draft.fit)):
            raise SpeechError("fit_busy", "clip")
        voice = await desk(_save, draft, body)
        drafts.forget(draft)
        return _answer(voice, 201)

    @router.post("/api/voices/import", status_code=201, openapi_extra=FILE)
    async def bring(request: Request):
        """Take in a file that a voice was exported to."""
        limit = MOST_BYTES // 1_000_000
        too_large = SpeechError("voice_file_invalid", "file", reason={"en": f"it is larger than {limit} MB",
                                                                      "zh": f"文件超过 {limit} MB"})
        try:
            owner = known_owner(request)
            data = await read_upload(request, limit, too_large)
        except SpeechError:
            await drain(request)
            raise
        return _answer(await desk(_import, data, owner), 201)

    @router.patch("/api/voices/{voice}", openapi_extra=_takes(EditBody))
    async def edit(voice: str, request: Request):
        """Change the fields that are sent."""
        owner = known_owner(request)
        body = checked(EditBody, await read_json(request), EXPECTED)
        return _answer(await desk(_edit, voice, owner, body.model_dump(exclude_unset=True)))

    @router.delete("/api/voices/{voice}")
    async def delete(voice: str, request: Request):
        """Delete a voice of one's own; for a week that can be undone."""
        return _answer(await desk(_delete, voice, known_owner(request)))

    @router.post("/api/voices/{voice}/undo")
    async def undo(voice: str, request: Request):
        """Bring a deleted voice back."""
        return _answer(await desk(_undo, voice, known_owner(request)))

    @router.post("/api/voices/{voice}/copy", status_code=201, openapi_extra=_takes(CopyBody))
    async def copy(voice: str, request: Request):
        """A copy of a voice, one's own or a shared one, as one's own."""
        owner = known_owner(request)
        body = checked(CopyBody, await read_json(request), EXPECTED)
        return _answer(await desk(_copy, voice, owner, body.name), 201)

    @router.get("/api/voices/{voice}/export")
    async def export(voice: str, request: Request):
        """The whole voice as one zip file."""
        name, data = await desk(_export, voice, known_owner(request))
        headers = {**NO_STORE, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
        return Response(data, media_type="application/zip", headers=headers)

    return router


def _answer(voice: dict, status: int = 200) -> JSONResponse:
    return JSONResponse(voice, status, NO_STORE)


def _shown(library: Library, voice: SavedVoice, owner: str) -> dict:
    """A voice as the API tells it: whose it is stays here, and what was written down about it is for its owner."""
    mine = voice.owner == owner
    shown = {"id": voice.id, "voice": f"{saved.PREFIX}{voice.id}", "name": voice.name, "mine": mine, "shared": voice.shared,
             "language": voice.language, "tags": list(voice.tags), "created": voice.created, "seconds": voice.seconds,
             "likeness": voice.likeness, "fitted": saved.FITTED in library.states(voice)}
    private = {"transcript": voice.transcript, "notes": voice.notes, "consent": vars(voice.consent),
               "pinned": voice.pinned}
    return {**shown, **(private if mine else {})}


# On threads: all of these read or write files.


def with_room(owner: str) -> Library:
    """Raises SpeechError("voices_full") when `owner` has all the voices that one may have, deleted ones included while
    they can be brought back."""
    library = saved.library()
    if sum(voice.owner == owner for voice in library.list(owner)) >= MOST or len(library.deleted(owner)) > 2 * MOST:
        raise SpeechError("voices_full", limit=MOST)
    return library


def _list(owner: str, search: str, tag: str) -> list[dict]:
    library = saved.library()
    return [_shown(library, voice, owner) for voice in library.list(owner, search, tag)]


def _save(draft: Draft, body: SaveBody) -> dict:
    library, reference = with_room(draft.owner), draft.reference
    about: dict[str, Any] = {"language": reference.language if body.language is None else body.language,
                             "notes": body.notes, "tags": body.tags, "shared": body.shared}
    if body.transcript is not None:
        about["transcript"] = body.transcript
    made = draft.fitted or (draft.preview.result if draft.preview is not None else None)
    if made is not None:
        about |= {"states": {saved.FITTED: made.state()}, "likeness": round(made.likeness, 3)}
    voice = library.save(reference.clip, body.name, draft.owner, body.who, **about)
    return _shown(library, voice, draft.owner)


def _import(data: bytes, owner: str) -> dict:
    library = with_room(owner)
    return _shown(library, library.import_file(data, owner), owner)


def _edit(voice: str, owner: str, changes: dict) -> dict:
    library = saved.library()
    return _shown(library, library.edit(voice, owner, **changes), owner)


def _delete(voice: str, owner: str) -> dict:
    library = saved.library()
    shown = _shown(library, library.get(voice, owner), owner)
    library.delete(voice, owner)
    return shown


def _undo(voice: str, owner: str) -> dict:
    library = with_room(owner)
    return _shown(library, library.undo_delete(voice, owner), owner)


def _copy(voice: str, owner: str, name: str) -> dict:
    library = with_room(owner)
    return _shown(library, library.duplicate(voice, owner, name), owner)


def _export(voice: str, owner: str) -> tuple[str, bytes]:
    library = saved.library()
    return f"{library.get(voice, owner).name}.voice.zip", library.export_file(voice, owner)
