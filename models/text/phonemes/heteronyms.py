"""English words of two readings that the tagger can't tell apart: the words around them can."""
from __future__ import annotations

import re

_METAL = "pipes?|paint|poisoning|bullets?|acid|shot|weights?|glass|crystal|ore|solder|batter(?:y|ies)|oxide|mines?"
_MUSIC = "players?|guitars?|lines?|drums?|clef|notes?|solos?|boost|voice|singers?|tones?|strings?|amp|riff|frequenc(?:y|ies)"
_ON_AIR = (r"(?:watch|broadcast|stream|record|perform|play|sing|go|air|report|see|hear|show|tune)(?:s|ed|ing|es|n|s in)?"
           r"|went|gone|saw|seen|heard|sang|shown|going")
_HINTS = [(re.compile(pattern, re.IGNORECASE), american, british) for pattern, american, british in [
    (rf"\blead(?= (?:{_METAL})\b)|(?<=made of )lead\b|(?<=traces of )lead\b|(?<=amounts of )lead\b", "lˈɛd", "lˈɛd"),
    (rf"\bbass(?= (?:{_MUSIC})\b)|(?<=double )bass\b|(?<=play )bass\b|(?<=plays )bass\b|(?<=on )bass\b", "bˈAs", "bˈAs"),
    (r"(?<=\bmy )resume\b|(?<=\byour )resume\b|(?<=\bhis )resume\b|(?<=\bher )resume\b|(?<=\ba )resume\b", "ɹˈɛzumˌA", "ɹˈɛzjʊmˌA"),
    (r"\bclose(?= (?:to|by|enough|friends?|call|range|up)\b)(?<!\bto close)(?<!\bnot close)(?<!will close)", "klˈOs", "klˈQs"),
]]
_LIVE = re.compile(rf"\b((?:{_ON_AIR})(?: (?:it|them|him|her|us|me|(?:the|a|an|this|that|their|his|her|our|my) \w+))?) (live)\b"
                   r"(?! (?:in|with|on|at|together|alone|here|there)\b)", re.IGNORECASE)
_READ = re.compile(r"\b((?:he|she)) (read)\b(?! aloud to be)", re.IGNORECASE)


def hinted(text: str, british: bool) -> str:
    """text with misaki's [word](/phonemes/) marks where the words around decide the reading."""
    for pattern, american, gb in _HINTS:
        text = pattern.sub(lambda m, sounds=gb if british else american: f"[{m.group()}](/{sounds}/)", text)
    text = _LIVE.sub(r"\1 [\2](/lˈIv/)", text)
    return _READ.sub(r"\1 [\2](/ɹˈɛd/)", text)
