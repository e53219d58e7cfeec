"""Text for the talker: what it reads, how long that may take, and how much fits its context."""
from __future__ import annotations

import re

from models.families.qwen3_tts.names import FRAMES_A_SECOND
from models.text import Segment, normalise, plan_segments
from models.text.spoken.common import clean

LIMIT = 280  # weight of a segment, about 20 seconds: beyond that speech grows hasty
LEAST = 24  # of a segment, below which the context is taken to be full
MARKS = 24  # positions of a prompt that are neither text nor sound
SLACK, SLOWEST = 3.0, 0.3  # seconds, and seconds per unit of weight, beyond which the model has lost its way


def weight(text: str) -> int:
    """Length in letters; a Chinese, Japanese or Korean one counts as three. No tokenizer makes more tokens of it."""
    return sum(3 if char > "\u2e80" else len(char.encode()) for char in text)


def most_frames(text: str) -> int:
    """Frames a reader who is very slow would need."""
    return round(FRAMES_A_SECOND * (SLACK + SLOWEST * weight(text)))


def segment_limit(room: int) -> int:
    """Weight a segment may have so that it and its frames fit into `room` positions; below LEAST nothing does."""
    return min(LIMIT, int((room - FRAMES_A_SECOND * SLACK) / (1 + FRAMES_A_SECOND * SLOWEST)))


def spoken(segment: Segment, written_out: bool) -> str:
    """The segment as the model shall read it, "" when nothing is left."""
    parts: list[str] = []
    for run in segment.runs:
        part = normalise(run.text, run.language) if written_out else clean(run.text)
        if part and parts and (run.text[:1].isspace() or parts[-1][-1:] in ",.;:!?"):
            parts.append(" ")
        parts.append(part)
        if part and run.text[-1:].isspace():
            parts.append(" ")
    text = plain("".join(parts))
    return text if any(char.isalnum() for char in text) else ""


def plain(text: str) -> str:
    """On one line, and without anything the tokenizer would take for one of its own marks."""
    return re.sub(r"<(?=[|t])", "< ", " ".join(text.split()))


def pieces(text: str, language: str, limit: int) -> list[str]:
    """The text, or its parts where writing out has made it much longer than `limit`."""
    if weight(text) <= 1.5 * limit:
        return [text]
    parts = [part.text for part in plan_segments(text, language, (language,), limit, limit)[1]]
    return parts or [text]


def joined(first: str, second: str) -> str:
    """Two texts spoken one after the other."""
    return first + second if first[-1:] > "\u2e80" and second[:1] > "\u2e80" else f"{first} {second}"
