"""What the server says of itself: health, readiness, the pool, the models, a request's figures."""
from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from models.errors import SpeechError
from models.pool import Pool
from server.language import preferred

NO_STORE = {"Cache-Control": "no-store"}


def health_routes(pool: Pool, opened: bool = True) -> APIRouter:
    """Answered from the first moment, before any model is ready; never ready before the page is `opened`."""
    router = APIRouter()

    @router.get("/healthz")
    def healthz():
        """The process lives."""
        return JSONResponse({"status": "alive"}, headers=NO_STORE)

    @router.get("/readyz")
    def readyz():
        """200 only when every eager session is ready; 503 with each state otherwise."""
        ready = opened and pool.ready
        return JSONResponse({"ready": ready, "sessions": pool.states()}, 200 if ready else 503, NO_STORE)

    @router.get("/api/pool")
    def report(request: Request):
        """Per session: state, load and warm seconds, memory, queue, caches; and the memory budget."""
        return JSONResponse(pool.report(preferred(request.headers.get("accept-language"))), headers=NO_STORE)

    return router


def catalog_routes(pool: Pool) -> APIRouter:
    router = APIRouter()

    @router.get("/api/models")
    def models():
        """Every model with its languages and voices."""
        return JSONResponse(pool.catalog(), headers=NO_STORE)

    @router.get("/api/requests/{request_id}")
    def request_figures(request_id: str, request: Request):
        """The figures of a request, while it runs and after."""
        metrics = pool.book.get(request_id)
        if metrics is None:
            raise SpeechError("request_unknown", id=request_id[:64])
        report = metrics.report()
        if report["error"]:
            other = report["error"].pop("messages", {})
            language = preferred(request.headers.get("accept-language"))
            report["error"] = {**report["error"], "message": other.get(language, report["error"]["message"])}
        return JSONResponse(report, headers=NO_STORE)

    return router
