"""GET /v1/models and /v1/audio/voices."""
from __future__ import annotations

import time

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from models.pool import Pool
from models.voices import saved
from server.openai.errors import OpenAIRoute
from server.openai.names import HEARING_MODELS, SPEECH_MODELS
from server.openai.voices import told
from server.owner import owner_of
from server.reports import NO_STORE


def list_routes(pool: Pool) -> APIRouter:
    router = APIRouter(route_class=OpenAIRoute)
    began = int(time.time())

    def entry(name: str, owner: str) -> dict:
        return {"id": name, "object": "model", "created": began, "owned_by": owner}

    def entries() -> dict[str, dict]:
        """The sessions, then the names that stand for one of them or for the ear."""
        found = {name: entry(name, session.spec.family) for name, session in pool.sessions.items()}
        found |= {name: entry(name, "readyvoice") for name in (*SPEECH_MODELS, *HEARING_MODELS) if name not in found}
        return found

    @router.get("/v1/models")
    def models():
        """The ids that `model` may be."""
        return JSONResponse({"object": "list", "data": list(entries().values())}, headers=NO_STORE)

    @router.get("/v1/models/{model:path}")
    def one_model(model: str):
        """One of them."""
        found = entries()
        if model not in found:
            pool.session(model or "/")
        return JSONResponse(found[model], headers=NO_STORE)

    @router.get("/v1/audio/voices")
    def voices(request: Request):
        """The voices of every model, or of `?model=`, and the caller's saved and the shared ones with each model that can
        speak in them; those of a model that hasn't been loaded yet aren't known."""
        wanted = request.query_params.get("model")
        sessions = pool.sessions.values() if wanted is None else [pool.session(wanted)]
        listed = [{"object": "audio.voice", "model": session.spec.id, **voice}
                  for session in sessions for voice in session.catalog()["voices"]]
        own = [told(voice) for voice in saved.library().list(owner_of(request))]
        listed += [{**voice, "model": session.spec.id} for session in sessions if session.saved_voices for voice in own]
        return JSONResponse({"object": "list", "data": listed}, headers=NO_STORE)

    return router
