"""Bodies that are no text: FastAPI, asked by Gradio to show what was wrong with one, fails at writing it down, which would
be answered as the server's fault."""
from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Unreadable:
    """Middleware for Gradio's routes: 400 for them."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/gradio_api/"):
            return await self._app(scope, receive, send)
        held: list[Message] = []  # an answer of 500, until it is known why

        async def noted(message: Message) -> None:
            if held or message.get("status") == 500:
                held.append(message)
            else:
                await send(message)

        try:
            await self._app(scope, receive, noted)
        except UnicodeError:
            if not held:
                raise
            held.clear()
            await JSONResponse({"detail": "The body is not valid UTF-8 text."}, 400)(scope, receive, send)
        finally:
            for message in held:
                await send(message)
