"""Roman numerals in English, where the word before makes them sure."""
from __future__ import annotations

import re
from collections.abc import Callable

from models.text.spoken.en_numbers import cardinal, ordinal

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_NUMERAL = r"(?:X{0,3}|XL|LX{0,3}|XC)(?:IX|IV|V?I{0,3})"
_RULERS = (
    "Henry|Louis|George|Edward|Elizabeth|Charles|William|Richard|James|John|Paul|Benedict|Pius|Leo|Gregory|Clement"
    "|Innocent|Urban|Napoleon|Nicholas|Catherine|Peter|Frederick|Friedrich|Francis|Philip|Ramesses|Ramses|Alexander"
    "|Ivan|Otto|Ferdinand|Alfonso|Gustav|Christian|Haakon|Victoria|Mary|Anne|Ptolemy|Darius|Xerxes|Wilhelm|Leopold")
_NUMBERED = (
    "Chapter|Part|Volume|Vol\\.|Book|Act|Scene|Section|World War|Type|Phase|Stage|Title|Article|Class|Super Bowl|Level"
    "|Grade|Appendix|Division|Group|Table|Figure|Schedule|Final Fantasy|Rocky|Episode|Apollo|Mark|Page|Season|War")


def value(numeral: str) -> int:
    total = 0
    for at, letter in enumerate(numeral):
        number = _VALUES[letter]
        total += -number if at + 1 < len(numeral) and number < _VALUES[numeral[at + 1]] else number
    return total


def _number(match: re.Match[str]) -> str:
    return f"{match.group(1)} {cardinal(value(match.group(2)))}" if match.group(2) else match.group()


def _ruler(match: re.Match[str]) -> str:
    numeral = match.group(2)
    if not numeral or (numeral == "I" and not re.match(r"[.,;:)']|\s+(?:of|was|and|had|ruled|died|is)\b|$",
                                                      match.string[match.end():])):
        return match.group()
    return f"{match.group(1)} the {ordinal(value(numeral))}"


ROMAN_RULES: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (rf"\b((?i:{_NUMBERED}))\s({_NUMERAL})\b(?!')", _number),
    (rf"\b({_RULERS}|(?:King|Queen|Pope|Emperor|Tsar)\s[A-Z]\w+)\s({_NUMERAL})\b", _ruler),
]
