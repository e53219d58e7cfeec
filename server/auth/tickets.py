"""What a browser holds after a login: a signed ticket, so that a restart logs nobody out while the password stays."""
from __future__ import annotations

import hashlib
import hmac
import secrets
import time

from server.auth.secret import derived

LASTS = 7 * 24 * 3600  # seconds
RENEWED = 24 * 3600  # age from which a visit gets a fresh one


class Tickets:
    """Tickets of one password: another password, and none of them is good any more."""

    def __init__(self, password: str):
        self._key = hmac.digest(derived("tickets"), password.encode(), hashlib.sha256)
        self._ended: dict[str, float] = {}  # by nonce, with the time they would have ended anyway

    def issue(self, now: float | None = None) -> str:
        body = f"{int((now or time.time()) + LASTS)}.{secrets.token_hex(16)}"
        return f"{body}.{self._signature(body)}"

    def good(self, ticket: str, now: float | None = None) -> bool:
        ends, nonce = self._read(ticket)
        return ends > (now or time.time()) and nonce not in self._ended

    def old(self, ticket: str, now: float | None = None) -> bool:
        """Whether a good one is due for another."""
        return self._read(ticket)[0] - (now or time.time()) < LASTS - RENEWED

    def end(self, ticket: str) -> None:
        """At a logout."""
        ends, nonce = self._read(ticket)
        now = time.time()
        if ends > now:
            self._ended = {kept: until for kept, until in self._ended.items() if until > now} | {nonce: ends}

    def _read(self, ticket: str) -> tuple[float, str]:
        """(end, nonce); an end of 0 for what we never signed."""
        body, _, signature = ticket.rpartition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._signature(body).encode()):
            return 0.0, ""
        ends, _, nonce = body.partition(".")
        return float(ends), nonce

    def _signature(self, body: str) -> str:
        return hmac.digest(self._key, body.encode("utf-8", "replace"), hashlib.sha256).hex()
