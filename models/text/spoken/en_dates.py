"""English dates and times in words."""
from __future__ import annotations

import re
from collections.abc import Callable

from models.text.spoken.en_numbers import cardinal, ordinal, year
from models.text.spoken.en_words import MONTH, MONTHS, WEEKDAYS

_MONTH = "|".join(sorted((name.capitalize() for name in MONTH), key=len, reverse=True))
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"


def _date(month: str, day: str, at: str | None = None) -> str:
    words = f"{month} {ordinal(int(day))}"
    return f"{words}, {year(int(at))}" if at else words


def _numeric(match: re.Match[str]) -> str:
    """12/25/2023 is read month first; day first where there is no such month."""
    first, second, at = match.groups()
    month, day = (int(first), int(second)) if int(first) <= 12 else (int(second), int(first))
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match.group()
    at = at if len(at) == 4 else ("20" if int(at) < 50 else "19") + at
    return _date(MONTHS[month - 1], str(day), at)


def _time(match: re.Match[str]) -> str:
    hour, minute, second, half = match.groups()
    half = f" {half[0].upper()} M" if half else ""
    words = cardinal(int(hour))
    if int(minute):
        words += f" {'oh ' if int(minute) < 10 else ''}{cardinal(int(minute))}"
    elif not half and not second:
        words += " o'clock" if 1 <= int(hour) <= 12 else " hundred hours"
    if second:
        words += f" and {cardinal(int(second))} seconds"
    return words + half


def _hour(match: re.Match[str]) -> str:
    ends = match.group(2).endswith(".") and re.match(r"\s*$|\s+[A-Z]", match.string[match.end():])
    return f"{cardinal(int(match.group(1)))} {match.group(2)[0].upper()} M{'.' if ends else ''}"


DATE_RULES: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (rf"(?<![\w-])((?:1\d|20)\d\d)[-/.](0?[1-9]|1[0-2])[-/.]({_DAY})(?![\w-])",
     lambda m: _date(MONTHS[int(m.group(2)) - 1], m.group(3), m.group(1))),
    (rf"(?<![\w/])({_DAY})/({_DAY})/(\d{{4}}|\d\d)(?![\w/])", _numeric),
    (rf"\b({_MONTH})\b\.?\s({_DAY})(?:st|nd|rd|th)?\b(?!:|[.,]?\d)(?:,?\s(\d{{4}})\b)?",
     lambda m: _date(MONTH[m.group(1).lower()], m.group(2), m.group(3))),
    (rf"\b({_DAY})(?:st|nd|rd|th)?\s(?:of\s)?({_MONTH})\b\.?(?:,?\s(\d{{4}})\b)?",
     lambda m: f"{'' if re.search(r'[Tt]he $', m.string[:m.start()]) else 'the '}{ordinal(int(m.group(1)))} of "
               f"{MONTH[m.group(2).lower()]}" + (f" {year(int(m.group(3)))}" if m.group(3) else "")),
    (rf"\b({_MONTH})\.?,?\s((?:1[1-9]|20)\d\d)\b", lambda m: f"{MONTH[m.group(1).lower()]} {year(int(m.group(2)))}"),
    (r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b(?:\.(?=\s)|(?=,))", lambda m: WEEKDAYS[m.group(1).lower()]),
    (r"\b(Jan|Feb|Apr|Aug|Sept|Oct|Nov|Dec)\.(?=\s)", lambda m: MONTH[m.group(1).lower()]),
    (r"(?<![\w:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?:\s?([AaPp])\.?[Mm]\b\.?)?(?![\d:])", _time),
    (r"(?<![\w:.])(1[0-2]|[1-9])\s?([AaPp]\.?[Mm]\b\.?)(?!\w)", _hour),
]
