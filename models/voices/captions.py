"""Timed words as captions: lines that can be read while they are heard, as SRT or WebVTT."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.voices.transcribe import Word

ENDS = tuple(".!?。！？…")
LONGEST = 6.0  # seconds
MOST = 84  # characters: two lines of 42
PAUSE = 0.8  # seconds of silence that end a caption


@dataclass(frozen=True)
class Caption:
    """text: what is said from start to end, in seconds."""

    text: str
    start: float
    end: float


def captions(words: Sequence[Word]) -> list[Caption]:
    """Cut after sentences, at pauses, and where a caption would be too long."""
    groups: list[list[Word]] = []
    for word in words:
        group = groups[-1] if groups else None
        if (group is None or group[-1].text.rstrip().endswith(ENDS) or word.start - group[-1].end > PAUSE
                or word.end - group[0].start > LONGEST or sum(len(one.text) for one in (*group, word)) > MOST):
            groups.append([word])
        else:
            group.append(word)
    return [Caption("".join(word.text for word in group).strip(), group[0].start, group[-1].end) for group in groups]


def to_srt(lines: Sequence[Caption]) -> str:
    return "".join(f"{number}\n{_time(line.start, ',')} --> {_time(line.end, ',')}\n{line.text}\n\n"
                   for number, line in enumerate(lines, 1))


def to_vtt(lines: Sequence[Caption]) -> str:
    return "WEBVTT\n\n" + "".join(f"{_time(line.start, '.')} --> {_time(line.end, '.')}\n{_escaped(line.text)}\n\n"
                                  for line in lines)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _time(seconds: float, mark: str) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}{mark}{whole % 1000:03}"
