"""The server's secret: 32 random bytes below `home()`, which only the operator can read."""
from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from filelock import FileLock

from models.weights import home

SIZE = 32


def secret() -> bytes:
    """Made at the first call on a machine. One that is not as we wrote it is made anew: all logins end."""
    path = home() / "secret"
    if (kept := _kept(path)) is not None:
        return kept
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(str(path.with_name(".secret.lock"))):
        if (kept := _kept(path)) is None:
            kept, partial = secrets.token_bytes(SIZE), path.with_name(".secret.part")
            partial.unlink(missing_ok=True)
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(kept)
            partial.replace(path)
        return kept


def _kept(path: Path) -> bytes | None:
    with contextlib.suppress(OSError):
        kept = path.read_bytes()
        if len(kept) == SIZE:
            return kept
    return None


def derived(purpose: str) -> bytes:
    """A key of its own for each purpose."""
    return hmac.digest(secret(), purpose.encode(), hashlib.sha256)


def operator_key() -> str:
    """A bearer key for the operator's own commands: whoever can read the secret has it."""
    return f"local-{derived('operator').hex()}"
