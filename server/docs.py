"""GET /api/docs: what /api/openapi.json says, readable, with nothing loaded from another host."""
from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import HTMLResponse

PAGE = Path(__file__).with_name("docs.html")


def docs_routes() -> APIRouter:
    router = APIRouter()
    page = PAGE.read_text("utf-8")

    @router.get("/api/docs", include_in_schema=False)
    def docs():
        return HTMLResponse(page, headers={"Cache-Control": "no-store"})

    return router
