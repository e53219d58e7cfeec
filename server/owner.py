"""Who asks, for what belongs to somebody. A program's voices are its key's. A browser's belong to the random number in the
cookie that it was given with the page; the number itself is kept nowhere, what is written down is its digest. A browser
sends the cookie along with whatever any page has it ask for, so requests that another origin's page caused count as
nobody's. Where nobody has to log in, a program of this machine's that asks without a proxy between is LOCAL.
"""
from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.errors import SpeechError
from server.cookies import cookie

COOKIE = "readyvoice"
KEPT = 400 * 24 * 3600  # seconds; browsers keep no cookie longer
VALUE = re.compile(r"[0-9a-f]{32}")
NOBODY = "nobody"  # sees what is shared, and owns nothing
LOCAL, OPERATOR = "local", "operator"  # OPERATOR: who holds this machine's own key, and the command line
BROWSERS = ("origin", "referer", "sec-fetch-site", "cookie")  # a request with one of these is no program's
PROXIES = ("x-forwarded-for", "x-real-ip", "forwarded", "via")


def owner_of(request: HTTPConnection) -> str:
    """The id that voices of this caller's are kept under; NOBODY for a browser without a cookie of ours, or that another's
    page made ask."""
    user = request.scope.get("state", {}).get("user", "")
    if user == OPERATOR:
        return OPERATOR
    if user.startswith("key:"):
        return f"key-{_digest(user)}"
    value = request.cookies.get(COOKIE, "")
    if VALUE.fullmatch(value) and not foreign(request.headers):
        return f"browser-{_digest(value)}"
    return LOCAL if not user and _program_here(request) else NOBODY


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _program_here(request: HTTPConnection) -> bool:
    try:
        near = request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        near = False
    return near and not any(name in request.headers for name in BROWSERS + PROXIES)


def known_owner(request: HTTPConnection) -> str:
    """The same for requests that only an owner may make. Raises SpeechError: cross_site or owner_missing."""
    if foreign(request.headers):
        raise SpeechError("cross_site")
    owner = owner_of(request)
    if owner == NOBODY:
        raise SpeechError("owner_missing")
    return owner


def foreign(headers: Headers) -> bool:
    """Whether a page of another origin made the browser ask. Programs say nothing of an origin."""
    if site := headers.get("sec-fetch-site"):
        return site not in ("same-origin", "none")
    origin = headers.get("origin")  # all that browsers say on plain HTTP
    if origin is None:
        return False
    try:
        asking = urlsplit(origin).netloc.lower()
    except ValueError:
        return True
    # no page can make a browser send x-forwarded-host to another origin unless that agrees first, which we never do
    return asking not in {headers.get(name, "-").lower() for name in ("host", "x-forwarded-host")}


class Owners:
    """Middleware that gives the page its cookie, and makes it last from each visit on."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
            return await self._app(scope, receive, send)
        request = HTTPConnection(scope)
        had = request.cookies.get(COOKIE, "")
        value = had if VALUE.fullmatch(had) else secrets.token_hex(16)
        given = cookie(request, COOKIE, value, KEPT)

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers = MutableHeaders(scope=message)
                headers.append("set-cookie", given)
                headers["cache-control"] = "private, no-cache"  # no store between may hand it to somebody else
            await send(message)

        await self._app(scope, receive, marked)
