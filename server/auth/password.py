"""Whether a password is needed, and which it is."""
from __future__ import annotations

import ipaddress
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from models.errors import SpeechError

VARIABLE = "READYVOICE_PASSWORD"
SHORTEST = 8


@dataclass(frozen=True)
class Password:
    """made: nobody gave one, so this start made it; it has to be shown."""

    text: str
    made: bool = False


def password_for(host: str, file: Path | None) -> Password | None:
    """From the file, else the environment, else made for an address that others can reach; None: open to all here.

    Raises SpeechError("password_short") or OSError.
    """
    given = file.read_text("utf-8").strip() if file else os.environ.get(VARIABLE, "").strip()
    if given or file:
        if len(given) < SHORTEST:
            raise SpeechError("password_short", "password", least=SHORTEST, source=file or VARIABLE)
        return Password(given)
    return None if loopback(host) else Password(secrets.token_urlsafe(18), made=True)


def loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
