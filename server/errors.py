"""SpeechError as an HTTP answer."""
from __future__ import annotations

from collections import Counter

from starlette.requests import Request
from starlette.responses import JSONResponse

from models.errors import SpeechError
from server.language import preferred

RETRY_AFTER = 3  # seconds
refused: Counter[str] = Counter()  # answers with an error instead of sound since the process began, by its code


def error_body(error: SpeechError, language: str) -> dict:
    """{"error": {code, message, field}} with the sentence in `language`."""
    message = writable(error.sentence(language))
    return {"error": {"code": error.code, "message": message, "field": writable(error.field)}}


def writable(text: str | None) -> str | None:
    """The text as UTF-8 can say it: errors quote what was sent, and that may hold half of a surrogate pair."""
    return text and text.encode("utf-8", "replace").decode()


def error_response(error: SpeechError, accept_language: str | None) -> JSONResponse:
    """The answer for an error that comes before any sound."""
    refused[error.code] += 1
    return JSONResponse(error_body(error, preferred(accept_language)), error.status, error_headers(error))


def error_headers(error: SpeechError) -> dict[str, str]:
    """No store may keep it, and what passes by itself says when to come back."""
    headers = {"Cache-Control": "no-store"}
    if error.status in (429, 503):
        headers["Retry-After"] = str(error.params.get("retry", RETRY_AFTER))
    return headers


async def speech_error_handler(request: Request, error: SpeechError) -> JSONResponse:
    return error_response(error, request.headers.get("accept-language"))
