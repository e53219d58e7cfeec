"""A segment: the piece of text that is spoken in one go."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """A stretch of one language inside a segment. language: BCP 47 primary tag ("en", "zh", "ja", "es", ...)."""

    text: str
    language: str


@dataclass(frozen=True)
class Segment:
    """text is the user's own, text[start:end] of the request; runs cover it in order.

    ends: what stands at its end, which decides intonation and pause: "paragraph", "sentence", "clause" or "word".
    """

    index: int
    text: str
    start: int
    end: int
    runs: tuple[Run, ...]
    ends: str = "sentence"
