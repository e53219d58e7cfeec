"""Cookies as all of ours are: out of scripts' reach, not sent with other sites' forms, on TLS only where there is TLS."""
from __future__ import annotations

from starlette.requests import HTTPConnection


def cookie(caller: HTTPConnection, name: str, value: str, lasts: int) -> str:
    """A Set-Cookie header's value for whoever asks. lasts: seconds, 0 to take it back."""
    told = caller.headers.get("x-forwarded-proto", "").split(",")[0].strip()
    secure = "; Secure" if "https" in (caller.scope["scheme"], told) else ""
    return f"{name}={value}; Max-Age={lasts}; Path=/; HttpOnly; SameSite=Lax{secure}"
