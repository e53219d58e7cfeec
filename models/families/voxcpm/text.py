"""Text as VoxCPM reads it, and how much sound it may take."""
from __future__ import annotations

import math

from models.text import normalise
from models.text.segment import Segment

TOKENS_BOUND = 6.0  # patches per token, and 10 more: the package's own sign of a bad case
SECONDS_BOUND, SECONDS_SPARE = 0.25, 2.0  # per Latin letter (three times that per Chinese or Japanese sign), and in all


def spoken(segment: Segment, written_out: bool) -> str:
    """The segment's words on one line, digits and the like written out if asked for."""
    text = ""
    for run in segment.runs:
        part = normalise(run.text, run.language) if written_out else run.text.strip()
        gap = " " if text and run.text[:1].isspace() else ""
        text += gap + part + (" " if part and run.text[-1:].isspace() else "")
    return " ".join(text.split())


def instructed(text: str, instruction: str) -> str:
    """With the voice's or manner's description in front, as VoxCPM 2 wants it."""
    words = " ".join(instruction.translate({ord(sign): " " for sign in "()（）"}).split())
    return f"({words}){text}" if words else text


def longest(text: str, tokens: int, patch_seconds: float) -> int:
    """Patches after which speech of this text has run away."""
    weight = sum(3 if char > "\u2e7f" else 1 for char in text)
    return min(int(tokens * TOKENS_BOUND) + 10, math.ceil((SECONDS_SPARE + SECONDS_BOUND * weight) / patch_seconds))
