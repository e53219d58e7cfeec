"""A clip's transcript laid over what is heard in it: how well they match, and which part of it a cut clip still says."""
from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from models.voices.transcribe import Heard, Word

ALONE = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")  # written without spaces: a sign is a token
MATCHES = 0.5  # token error up to which a transcript is taken to belong to its clip; Whisper base mishears a lot itself
LONGEST = 10_000  # characters a transcript may have


@dataclass(frozen=True)
class Token:
    """A word, or a sign of a script without spaces: plain form, and where it stands in its text."""

    plain: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """The words of a text without case and punctuation."""
    found: list[Token] = []
    kinds = [_kind(sign, text, index) for index, sign in enumerate(text)]
    for kind, group in groupby(range(len(text)), kinds.__getitem__):
        span = list(group)
        if kind == "alone":
            found += [Token(_plain(text[index]), index, index + 1) for index in span]
        elif kind == "word":
            found.append(Token(_plain(text[span[0]:span[-1] + 1]), span[0], span[-1] + 1))
    return [token for token in found if token.plain]


def token_error(transcript: str, heard: str) -> float:
    """Tokens wrong, left out or put in, over those of the transcript: 0 says the same, 1 or more has nothing in common."""
    ours, theirs = _plains(tokens(transcript)), _plains(tokens(heard))
    return _align(ours, theirs, free=False)[0] / max(1, len(ours))


def spoken_part(transcript: str, heard: Heard) -> str:
    """The part of the transcript of a longer recording that is said in the clip `heard` was heard in.

    "" when no part of it is.
    """
    ours, theirs = tokens(transcript), _plains(tokens(heard.text))
    cost, matched = _align(_plains(ours), theirs, free=True)
    inside = [index for index, other in enumerate(matched) if other is not None]
    if not inside or cost > MATCHES * len(theirs):
        return ""
    return _cut(transcript, ours[inside[0]], ours[inside[-1]])


def part_between(transcript: str, heard: Heard, start: float, end: float) -> str:
    """The part of a clip's transcript that is said from `start` to `end` seconds, by the times of the words heard."""
    ours = tokens(transcript)
    times = _times(heard.words)
    _, matched = _align(_plains(ours), [plain for plain, _ in times], free=False)
    inside = [index for index, other in enumerate(matched) if other is not None and start <= times[other][1] < end]
    return _cut(transcript, ours[inside[0]], ours[inside[-1]]) if inside else ""


def _align(ours: Sequence[str], theirs: Sequence[str], free: bool) -> tuple[int, list[int | None]]:
    """Levenshtein's distance, and for each of ours the index of its counterpart. free: ours may begin before theirs and
    go on after at no cost."""
    width = len(theirs) + 1
    rows = [list(range(width))]
    for index, one in enumerate(ours):
        above = rows[-1]
        row = [0 if free else index + 1]
        for column in range(1, width):
            row.append(min(above[column - 1] + (one != theirs[column - 1]), above[column] + 1, row[column - 1] + 1))
        rows.append(row)
    last = min(range(len(rows)), key=lambda index: (rows[index][-1], -index)) if free else len(ours)  # misheard, not absent
    matched: list[int | None] = [None] * len(ours)
    row, column = last, width - 1
    while row > 0 and (column > 0 or not free):
        here = rows[row][column]
        if column > 0 and here == rows[row - 1][column - 1] + (ours[row - 1] != theirs[column - 1]):
            row, column = row - 1, column - 1
            matched[row] = column
        elif here == rows[row - 1][column] + 1:
            row -= 1
        else:
            column -= 1
    return rows[last][-1], matched


def _times(words: Sequence[Word]) -> list[tuple[str, float]]:
    """Every token heard, with the middle of its time."""
    found = []
    for word in words:
        inside = tokens(word.text)
        for index, token in enumerate(inside):
            found.append((token.plain, word.start + (word.end - word.start) * (index + 0.5) / len(inside)))
    return found


def _cut(text: str, first: Token, last: Token) -> str:
    """From one token to another, with the punctuation that clings to them."""
    start, end = first.start, last.end
    while start > 0 and not text[start - 1].isspace() and unicodedata.category(text[start - 1]) in ("Ps", "Pi"):
        start -= 1
    while end < len(text) and unicodedata.category(text[end]) in ("Po", "Pe", "Pf"):
        end += 1
    return text[start:end]


def _kind(sign: str, text: str, index: int) -> str:
    if unicodedata.category(sign)[0] in "LNM":
        return "alone" if unicodedata.name(sign, "").startswith(ALONE) else "word"
    between = 0 < index < len(text) - 1 and text[index - 1].isalnum() and text[index + 1].isalnum()
    return "word" if sign in "'’" and between else "none"


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in folded if unicodedata.category(sign)[0] in "LNM")


def _plains(found: list[Token]) -> list[str]:
    return [token.plain for token in found]
