"""The public sub-path of the page, as a reverse proxy tells it."""
from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

PREFIX = re.compile(rb"(/[\w.~-]+)+")


class ForwardedPrefix:
    """`X-Forwarded-Prefix: /voice` becomes the request's root path, so that addresses made by Gradio begin with it.

    Our own addresses are relative and need no help. Anything that isn't a plain path is ignored.
    """

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            prefix = dict(scope["headers"]).get(b"x-forwarded-prefix", b"").rstrip(b"/")
            if PREFIX.fullmatch(prefix):
                scope = {**scope, "root_path": prefix.decode()}
        await self._app(scope, receive, send)
