"""Keys for programs: `home()/keys.json` holds their names and digests, never the keys themselves."""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock

from models.errors import SpeechError
from models.weights import home

NAME = re.compile(r"[\w.@ -]{1,60}")


@dataclass(frozen=True)
class Key:
    """digest: SHA-256 of the key, in hexadecimal. made: seconds since 1970."""

    name: str
    digest: str
    made: float


class KeyRing:
    """Several processes may use the file; a change is seen at the next question."""

    def __init__(self, file: Path | None = None):
        self._file = file or home() / "keys.json"
        self._lock = FileLock(str(self._file) + ".lock")
        self._seen: tuple[int, int] | None = None
        self._keys: tuple[Key, ...] = ()

    def all(self) -> tuple[Key, ...]:
        try:
            status = self._file.stat()
        except FileNotFoundError:
            self._seen, self._keys = None, ()
            return ()
        seen = (status.st_mtime_ns, status.st_ino)
        if seen != self._seen:
            try:
                kept = json.loads(self._file.read_text("utf-8"))
                self._keys = tuple(Key(str(one["name"]), str(one["digest"]), float(one["made"])) for one in kept)
            except (ValueError, KeyError, TypeError, OSError):
                self._keys = ()  # a file we can't read opens nothing
            self._seen = seen
        return self._keys

    def holder(self, key: str) -> str | None:
        """The name of a key that is good; all of them are compared, each in constant time."""
        digest = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
        found = None
        for one in self.all():
            if hmac.compare_digest(one.digest, digest):
                found = one.name
        return found

    def add(self, name: str) -> str:
        """Make a key, which is shown this once. Raises SpeechError: field_invalid or key_taken."""
        name = name.strip()
        if not NAME.fullmatch(name):
            raise SpeechError("field_invalid", "name", name="the key's name", expected={
                "en": "1 to 60 letters, digits, spaces or any of . @ - _", "zh": "1 到 60 个字母、数字、空格或 . @ - _"})
        key = f"rv-{secrets.token_urlsafe(32)}"
        with self._changing():
            if any(one.name == name for one in self.all()):
                raise SpeechError("key_taken", "name", name=name)
            self._write([*self.all(), Key(name, hashlib.sha256(key.encode()).hexdigest(), time.time())])
        return key

    def revoke(self, name: str) -> None:
        """Raises SpeechError("key_unknown")."""
        with self._changing():
            kept = [one for one in self.all() if one.name != name]
            if len(kept) == len(self.all()):
                raise SpeechError("key_unknown", "name", name=name)
            self._write(kept)

    def _changing(self) -> FileLock:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        return self._lock

    def _write(self, keys: list[Key]) -> None:
        partial = self._file.with_name(f".{self._file.name}.part")
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump([asdict(key) for key in keys], file, indent=1)
        partial.replace(self._file)
        self._seen = None
