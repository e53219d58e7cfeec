"""The gate: ASGI middleware that lets in who has logged in or holds a key, and nobody else to anything."""
from __future__ import annotations

import hashlib
import hmac
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.errors import SpeechError
from server.auth.attempts import Attempts
from server.auth.keys import KeyRing
from server.auth.login import login_page
from server.auth.secret import operator_key
from server.auth.tickets import LASTS, Tickets
from server.cookies import cookie
from server.errors import error_response
from server.language import preferred
from server.network import network_of
from server.openai.errors import error_response as openai_error
from server.owner import foreign
from server.upload import capped, drain

OPEN = ("/healthz", "/readyz")  # they tell nothing but that the server lives
COOKIE = "readyvoice_login"
FORM = 4096  # bytes of a login form
REFUSED = 4401  # closing code of a websocket


class Gate:
    """Passes to `app` what may pass, with scope["state"]["user"] saying who it is: "key:NAME", "operator" or "login"."""

    def __init__(self, app: ASGIApp, password: str, keys: KeyRing):
        self._app, self._password, self._keys = app, password, keys
        self._tickets, self._attempts, self._operator = Tickets(password), Attempts(), operator_key()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        caller = HTTPConnection(scope)
        if scope["type"] == "http" and scope["path"] in ("/login", "/logout"):
            answer = await (self._login if scope["path"] == "/login" else self._logout)(Request(scope, receive))
            return await answer(scope, receive, send)
        if scope["path"] in OPEN:
            return await self._app(scope, receive, send)
        if user := self._user(caller):
            scope.setdefault("state", {})["user"] = user
            return await self._app(scope, receive, self._renewing(caller, send))
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": REFUSED})
        await self._refusal(caller, scope)(scope, receive, send)

    def _user(self, caller: HTTPConnection) -> str | None:
        kind, _, key = caller.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and key.strip():
            if same(key.strip(), self._operator):
                return "operator"
            name = self._keys.holder(key.strip())
            return name and f"key:{name}"
        return "login" if self._tickets.good(caller.cookies.get(COOKIE, "")) else None

    def _refusal(self, caller: HTTPConnection, scope: Scope) -> Response:
        """The login page for whoever opens the page, an error for a program."""
        path, language = scope["path"], caller.headers.get("accept-language")
        if scope["method"] == "GET" and path == "/":
            given = caller.query_params.get("token")
            # a link may come from anywhere, an image of another page may not
            if given is not None and not (foreign(caller.headers) and caller.headers.get("sec-fetch-mode") != "navigate"):
                return self._tried(caller, given)
            return login_page(preferred(language))
        error = SpeechError("login_needed")
        answer = openai_error(error, language) if path.startswith("/v1/") else error_response(error, language)
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer

    async def _login(self, request: Request) -> Response:
        """The form's answer; a GET shows the form."""
        if request.method != "POST":
            return login_page(preferred(request.headers.get("accept-language")))
        if foreign(request.headers):
            return error_response(SpeechError("login_needed"), request.headers.get("accept-language"))
        body = b""
        try:
            async for piece in capped(request, FORM, SpeechError("body_too_large", limit=0)):
                body += piece
        except SpeechError:
            await drain(request)
            return login_page(preferred(request.headers.get("accept-language")), SpeechError("login_wrong"))
        return self._tried(request, parse_qs(body.decode("utf-8", "replace")).get("password", [""])[0])

    def _tried(self, caller: HTTPConnection, given: str) -> Response:
        """To the page with a ticket, or back to the form with the reason."""
        address, language = network_of(caller), preferred(caller.headers.get("accept-language"))
        if wait := self._attempts.wait(address):
            return login_page(language, SpeechError("login_wait", seconds=max(1, round(wait))), wait)
        if not same(given, self._password):
            self._attempts.failed(address)
            return login_page(language, SpeechError("login_wrong"))
        self._attempts.succeeded(address)
        rest = [(name, value) for name, value in caller.query_params.multi_items() if name != "token"]
        answer = RedirectResponse("./" + (f"?{urlencode(rest)}" if rest else ""), 303)
        answer.headers["set-cookie"] = cookie(caller, COOKIE, self._tickets.issue(), LASTS)
        answer.headers["cache-control"] = "no-store"
        return answer

    async def _logout(self, request: Request) -> Response:
        if request.method == "POST" and not foreign(request.headers):
            self._tickets.end(request.cookies.get(COOKIE, ""))
            answer = RedirectResponse("./", 303)
            answer.headers["set-cookie"] = cookie(request, COOKIE, "", 0)
            return answer
        return error_response(SpeechError("login_needed"), request.headers.get("accept-language"))

    def _renewing(self, caller: HTTPConnection, send: Send) -> Send:
        """`send` that hands the page's visitor a fresh ticket when theirs has aged."""
        ticket = caller.cookies.get(COOKIE, "")
        if caller.scope["path"] != "/" or not self._tickets.good(ticket) or not self._tickets.old(ticket):
            return send

        async def renewed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("set-cookie", cookie(caller, COOKIE, self._tickets.issue(), LASTS))
            await send(message)

        return renewed


def same(given: str, right: str) -> bool:
    """In a time that tells nothing of either."""
    return hmac.compare_digest(*(hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in (given, right)))
