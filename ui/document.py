"""The page's HTML as it leaves: Gradio's own, made to find itself wherever it is served.

Gradio writes the address it believes to have into the page; behind a proxy that strips a sub-path it believes wrong
and half of the page is missing. The browser knows better, so its location is used instead. And what Gradio would add
to the head by script (icon, what to fetch early) is there from the first byte.
"""
from __future__ import annotations

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROOT = re.compile(r'"root":\s*("https?://[^"]*")')
HERE = r"(location.origin + location.pathname.replace(/\/[^\/]*$/, ''))"


class Document:
    """Middleware for GET "/". head: HTML to stand first in the page's head."""

    def __init__(self, app: ASGIApp, head: str):
        self._app, self._head = app, head

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
            return await self._app(scope, receive, send)
        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        start: Message = {}
        body = b""

        async def rewrite(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            if message["type"] != "http.response.body":
                return await send(message)
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            if dict(start["headers"]).get(b"content-type", b"").startswith(b"text/html"):
                body = placed(body.decode(), self._head).encode()
            kept = [(name, value) for name, value in start["headers"] if name != b"content-length"]
            await send({**start, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
            await send({"type": "http.response.body", "body": body})

        await self._app({**scope, "headers": plain}, receive, rewrite)


def placed(page: str, head: str) -> str:
    """`page` with `head` in it and every mention of its own root left to the browser's location."""
    if found := ROOT.search(page):
        page = page.replace(found[1], HERE)
    return page.replace("<head>", f"<head>\n{head}", 1)
