"""/api/voices/clips: a recording is checked, listened to, tried out and fitted, before it is saved as a voice."""
from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from models.audio.decode import MEGABYTES
from models.errors import SpeechError
from server import making
from server.desk import Desk, Once
from server.drafts import Draft, Drafts
from server.language import preferred
from server.limits import Limits
from server.owner import known_owner
from server.reports import NO_STORE
from server.schema import checked, read_json
from server.upload import drain, read_upload
from server.workbench import Work, Workbench

FILE = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": {
    "type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}}}}}}}
EXPECTED = {"transcript": {"en": "what is said in the clip", "zh": "录音中所说的文字"},
            "language": making.LANGUAGE}


class TranscriptBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    transcript: str = Field("", max_length=10_000, description="What is said in the clip; empty to have it found.")
    language: str = Field("", max_length=20, description="Its language tag; empty to have it found.")


def clip_routes(drafts: Drafts, previews: Workbench, fits: Workbench, limits: Limits) -> APIRouter:
    router, counted = APIRouter(), [Depends(limits.counted)]
    checking, hearing = Desk("checking", 2, 12), Desk("listening", 1, 12)
    tools = Once(making.get_ready)

    @router.post("/api/voices/tools", status_code=204)
    async def ready():
        """Get what checks and hears a recording into memory, ahead of the first one; answered when it is there."""
        await tools()
        return Response(status_code=204, headers=NO_STORE)

    @router.post("/api/voices/clips", status_code=201, dependencies=counted, openapi_extra=FILE)
    async def add(request: Request):
        """Check a recording of up to 20 MB. The answer's `clip` is its handle, good for half an hour."""
        try:
            owner = known_owner(request)
            data = await read_upload(request, MEGABYTES, SpeechError("clip_too_large", "file", limit=MEGABYTES))
        except SpeechError:
            await drain(request)
            raise
        return _report(drafts.add(owner, await checking(making.check, data)), request, fits, 201)

    @router.get("/api/voices/clips/{clip}")
    async def look(clip: str, request: Request):
        """The report, with what has been made of the clip so far."""
        return _report(drafts.get(clip, known_owner(request)), request, fits)

    @router.post("/api/voices/clips/{clip}/transcript", dependencies=counted, openapi_extra={"requestBody": {"content": {
        "application/json": {"schema": TranscriptBody.model_json_schema()}}}})
    async def transcript(clip: str, request: Request):
        """Listen to what is said, or compare it with the transcript given."""
        draft = drafts.get(clip, known_owner(request))
        body = checked(TranscriptBody, await read_json(request), EXPECTED)
        draft.reference = await hearing(making.listen, draft.reference, body.transcript, body.language)
        return _report(draft, request, fits)

    @router.post("/api/voices/clips/{clip}/preview", status_code=202, dependencies=counted)
    async def preview(clip: str, request: Request):
        """Find the stock voices most like it. The report's `preview` has a mix of them to speak in when it is done."""
        draft = drafts.get(clip, known_owner(request))
        if draft.preview is None or draft.preview.state in ("failed", "stopped"):
            sound = draft.reference.clip
            draft.preview = previews.start(lambda work: making.first(sound, work))
        return _report(draft, request, fits, 202)

    @router.post("/api/voices/clips/{clip}/fit", status_code=202, dependencies=counted)
    async def fit(clip: str, request: Request):
        """Make the voice more alike, two minutes at most; the report's `fit` tells how far it is."""
        draft = drafts.get(clip, known_owner(request))
        if draft.fit is None or draft.fit.over:
            sound = draft.reference.clip
            draft.fit = fits.start(lambda work: making.fitted(sound, work))
        return _report(draft, request, fits, 202)

    @router.post("/api/voices/clips/{clip}/fit/stop")
    async def stop(clip: str, request: Request):
        """End the fit at its next step and keep the best so far."""
        draft = drafts.get(clip, known_owner(request))
        if draft.fit is not None:
            fits.stop(draft.fit)
        return _report(draft, request, fits)

    @router.get("/api/voices/clips/{clip}/sample", dependencies=counted)
    async def hear(clip: str, request: Request):
        """A sentence in the fitted voice, as WAV."""
        fitted = drafts.get(clip, known_owner(request)).fitted
        if fitted is None:
            raise SpeechError("fit_missing", "clip")
        return Response(await checking(making.sample, fitted), media_type="audio/wav", headers=NO_STORE)

    @router.delete("/api/voices/clips/{clip}", status_code=204)
    async def forget(clip: str, request: Request):
        """Forget the clip and all that was made of it."""
        drafts.drop(clip, known_owner(request))
        return Response(status_code=204, headers=NO_STORE)

    return router


def _report(draft: Draft, request: Request, fits: Workbench, status: int = 200) -> JSONResponse:
    reference, report = draft.reference, draft.reference.report
    listened = reference.heard is not None
    return JSONResponse({
        "clip": draft.handle, "level": report.worst, "seconds": report.seconds, "speech_seconds": report.speech_seconds,
        "kept": report.kept, "outline": report.outline,
        "findings": [{"about": finding.about, "level": finding.level, "value": finding.value, "unit": finding.unit,
                      "sentences": dict(finding.sentences)} for finding in report.findings],
        "transcript": reference.clip.transcript if listened else None, "language": reference.language,
        "matches": reference.matches if listened else None,
        "preview": _preview(draft.preview, request), "fit": _fit(draft.fit, request, fits),
    }, status, NO_STORE)


def _work(work: Work, request: Request) -> dict:
    error = work.error and {"code": work.error.code, "message": work.error.sentence(
        preferred(request.headers.get("accept-language")))}
    return {"state": work.state, "error": error}


def _preview(work: Work | None, request: Request) -> dict | None:
    if work is None:
        return None
    made = work.result and {"voice": work.result.mix, "likeness": round(work.result.likeness, 3)}
    return {**_work(work, request), **(made or {})}


def _fit(work: Work | None, request: Request, fits: Workbench) -> dict | None:
    """`before`: how many fits of others come first."""
    if work is None:
        return None
    at = work.progress
    told = {"before": fits.before(work)}
    if at is not None:
        told |= {"step": at.step, "steps": at.steps, "seconds": round(at.seconds, 1), "likeness": round(at.likeness, 3)}
    if work.result is not None:
        told |= {"likeness": round(work.result.likeness, 3), "before_likeness": round(work.result.blend_likeness, 3),
                 "own_likeness": round(work.result.own, 3)}
    return {**_work(work, request), **told}
