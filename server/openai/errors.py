"""SpeechError as OpenAI's clients expect an error."""
from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from models.errors import SpeechError
from server.errors import error_headers, refused, writable
from server.language import preferred
from server.upload import drain

FIELDS = {"text": "input", "options.instruction": "instructions", "clip": "file", "who": "consent"}  # ours -> OpenAI's
CODES = {"model_unknown": "model_not_found"}
BAD_REQUEST = ("voice_unknown", "saved_voice_unknown")  # a 404 of ours that is not about the address


def error_body(error: SpeechError, language: str = "en") -> dict:
    """{"error": {message, type, param, code}} with the sentence in `language`."""
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    return {"error": {"message": writable(error.sentence(language)), "type": kind,
                      "param": writable(FIELDS.get(error.field, error.field)),
                      "code": CODES.get(error.code, error.code)}}


def error_response(error: SpeechError, accept_language: str | None) -> JSONResponse:
    """400 for a field at fault, 404 for a model, 413 for too much, 429 and 503 with Retry-After when it passes."""
    status = 400 if error.status == 422 or error.code in BAD_REQUEST else error.status
    refused[error.code] += 1
    return JSONResponse(error_body(error, preferred(accept_language)), status, error_headers(error))


class OpenAIRoute(APIRoute):
    """A route whose SpeechErrors are answered in OpenAI's shape."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except SpeechError as error:
                await drain(request)
                return error_response(error, request.headers.get("accept-language"))

        return answered
