"""The front door: open from the first moment, but the page and the speech routes only once the pool is warm."""
from __future__ import annotations

import asyncio
import html
from contextlib import AsyncExitStack

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.responses import JSONResponse, Response
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from models.errors import SpeechError
from models.pool import Pool
from server.calls import Calls
from server.clips import clip_routes
from server.cloning import Cloning
from server.errors import RETRY_AFTER, error_response, speech_error_handler
from server.docs import docs_routes
from server.language import preferred
from server.limits import Limits
from server.openai.errors import error_response as openai_error
from server.openai.hearing import hearing_routes
from server.openai.lists import list_routes
from server.openai.speech import speech_routes
from server.openai.voices import openai_voice_routes
from server.owner import Owners
from server.prometheus import metrics_routes
from server.reports import catalog_routes, health_routes
from server.stream import stream_routes
from server.voices import voice_routes

WAITING = {"en": "ReadyVoice is warming its models: this page opens by itself when they can speak at once.",
           "zh": "ReadyVoice 正在预热模型：准备就绪后，本页会自动打开。"}


class Front:
    """The ASGI app uvicorn serves. It passes every call to `app`, which `switch` replaces while serving."""

    def __init__(self, app: ASGIApp):
        self._app = app
        self._stack = AsyncExitStack()

    async def switch(self, app: FastAPI) -> None:
        """From now on `app` answers; its lifespan begins here and ends with the server."""
        await self._stack.enter_async_context(app.router.lifespan_context(app))
        self._app = app

    async def close(self) -> None:
        await self._stack.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            # only the server's end cancels a call, one whose client no longer reads: its connection is cut, no fault
            if scope["type"] != "http":
                raise


def early_app(pool: Pool) -> FastAPI:
    """What answers while the models load: health and states, and 503 with Retry-After for all else."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(health_routes(pool, opened=False))

    @app.get("/favicon.ico")
    def no_icon():
        return Response(status_code=204)

    @app.api_route("/{path:path}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
    def not_yet(path: str, request: Request):
        accepts = request.headers.get("accept-language")
        if path.startswith(("api/", "v1/")) or request.method not in ("GET", "HEAD"):
            waiting = next((name for name, state in pool.states().items() if state != "ready"), "")
            refused = SpeechError("not_ready", model=waiting, state=pool.states().get(waiting, ""))
            return openai_error(refused, accepts) if path.startswith("v1/") else error_response(refused, accepts)
        lines = "".join(f"<li>{html.escape(name)}: {state}</li>" for name, state in pool.states().items())
        page = (f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>ReadyVoice</title>'
                f'<body style="font:16px/1.6 system-ui;margin:15vh auto;max-width:32em;padding:0 1em">'
                f"<p>{WAITING[preferred(accepts)]}</p><ul>{lines}</ul>")
        return HTMLResponse(page, 503, {"Retry-After": str(RETRY_AFTER), "Cache-Control": "no-store"})

    return app


def full_app(pool: Pool, guarded: bool = False) -> FastAPI:
    """The speech API on a warm pool; the page is mounted on it by whoever has one. guarded: a gate stands before it."""
    limits = Limits(lambda: pool.config.limits if guarded or pool.config.limits_given else None)
    cloning = Cloning()
    app = FastAPI(title="ReadyVoice", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json",
                  lifespan=cloning.life)
    app.state.calls = Calls(pool, limits)
    app.add_exception_handler(SpeechError, speech_error_handler)
    app.add_middleware(Owners)
    app.include_router(health_routes(pool))
    app.include_router(catalog_routes(pool))
    app.include_router(stream_routes(pool, limits))
    app.include_router(speech_routes(pool, limits))
    app.include_router(list_routes(pool))
    app.include_router(openai_voice_routes(limits))
    app.include_router(hearing_routes(limits))
    app.include_router(clip_routes(cloning.drafts, cloning.previews, cloning.fits, limits))
    app.include_router(voice_routes(cloning.drafts))
    app.include_router(docs_routes())
    app.include_router(metrics_routes(pool))

    @app.api_route("/v1/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False)
    def no_such_openai_route(path: str, request: Request):
        known = any(route.matches(request.scope)[0] is Match.PARTIAL for route in app.routes)
        code = "method_wrong" if known else "route_unknown"
        error = SpeechError(code, method=request.method, path=f"/v1/{path[:80]}")
        return openai_error(error, request.headers.get("accept-language"))

    @app.api_route("/api/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False)
    def no_such_route(path: str, request: Request):
        # before the page's catch-all mount, so that an API client never reads HTML
        return JSONResponse({"error": {"code": "not_found", "field": None, "message": f"There is no /api/{path[:80]}."}}, 404)

    return app
