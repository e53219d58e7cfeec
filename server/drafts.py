"""Clips that have been checked and not saved: in memory only, each for the one who sent it, and not for long."""
from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.errors import SpeechError
from server.workbench import Work

if TYPE_CHECKING:  # they bring torch
    from models.voices.fit import Fitted
    from models.voices.reference import Reference

EACH = 3  # of one owner
MOST = 32  # of all
BYTES = 192 << 20  # of all their samples
AGE = 1800.0  # seconds since it was last asked for


@dataclass(eq=False)
class Draft:
    """preview: makes a `models.voices.fit.First`. fit: makes a `Fitted`."""

    owner: str
    reference: Reference
    handle: str = field(default_factory=lambda: secrets.token_hex(16))
    used: float = field(default_factory=time.monotonic)
    preview: Work | None = None
    fit: Work | None = None

    @property
    def fitted(self) -> Fitted | None:
        return self.fit.result if self.fit is not None else None

    @property
    def bytes(self) -> int:
        return self.reference.clip.samples.nbytes

    def end(self) -> None:
        for work in (self.preview, self.fit):
            if work is not None and work.end is not None:
                work.end()


class Drafts:
    """Used on the event loop only. The oldest make room for new ones."""

    def __init__(self) -> None:
        self._held: dict[str, Draft] = {}

    def add(self, owner: str, reference: Reference) -> Draft:
        draft = Draft(owner, reference)
        own = [each for each in self._held.values() if each.owner == owner]
        for old in own[:max(0, len(own) - EACH + 1)]:
            self._drop(old)
        self._held[draft.handle] = draft
        while len(self._held) > MOST or sum(each.bytes for each in self._held.values()) > BYTES:
            self._drop(next(iter(self._held.values())))
        return draft

    def get(self, handle: str, owner: str) -> Draft:
        """Raises SpeechError("clip_unknown"): also for somebody else's."""
        self.sweep()
        draft = self._held.get(handle)
        if draft is None or draft.owner != owner:
            raise SpeechError("clip_unknown", "clip")
        draft.used = time.monotonic()
        self._held[handle] = self._held.pop(handle)  # newest last
        return draft

    def drop(self, handle: str, owner: str) -> None:
        self._drop(self.get(handle, owner))

    def forget(self, draft: Draft) -> None:
        """Also one that has gone already."""
        self._drop(draft)

    def sweep(self) -> None:
        """Forget those nobody has asked for in a while."""
        for draft in list(self._held.values()):
            if time.monotonic() - draft.used > AGE:
                self._drop(draft)

    def _drop(self, draft: Draft) -> None:
        draft.end()
        self._held.pop(draft.handle, None)
