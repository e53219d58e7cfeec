"""English numbers in words: cardinals, ordinals, years, decimals, digit strings, money."""
from __future__ import annotations

from functools import lru_cache

from num2words import num2words

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_FRACTIONS = {2: "half", 4: "quarter"}


@lru_cache(maxsize=4096)
def cardinal(number: int) -> str:
    """American style: no "and", no commas."""
    if number < 0:
        return "minus " + cardinal(-number)
    if number >= 10**15:
        return digits(str(number))
    return num2words(number).replace(",", "").replace(" and ", " ")


@lru_cache(maxsize=4096)
def ordinal(number: int) -> str:
    return num2words(number, to="ordinal").replace(",", "").replace(" and ", " ")


def digits(text: str, zero: str = "zero") -> str:
    """Each digit by its name; other characters are left out."""
    return " ".join(zero if char == "0" else _DIGITS[int(char)] for char in text if char.isdigit())


def year(number: int) -> str:
    """nineteen ninety-nine, nineteen oh five, nineteen hundred, two thousand five, twenty twenty-four."""
    century, rest = divmod(number, 100)
    if number % 1000 < 10 or not 1000 <= number <= 9999:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def decade(text: str) -> str:
    """"1990" -> nineteen nineties, "80" -> eighties."""
    number = int(text)
    if number % 100 == 0:
        return (cardinal(number) if number % 1000 == 0 else f"{cardinal(number // 100)} hundred") + "s"
    head = cardinal(number // 100) + " " if number >= 100 else ""
    last = cardinal(number % 100)
    return head + (last[:-1] + "ies" if last.endswith("y") else last + "s")


def plain(text: str) -> str:
    """Digits with optional thousands commas and decimals: "12,345", "3.14", "0.5", "007"."""
    sign = ""
    if text[:1] in "-+":
        sign, text = ("minus " if text[0] == "-" else "plus "), text[1:]
    whole, point, rest = text.replace(",", "").partition(".")
    if len(whole) > 1 and whole.startswith("0"):
        words = digits(whole)
    else:
        words = cardinal(int(whole)) if whole else "zero"
    return sign + (f"{words} point {digits(rest)}" if point and rest else words)


def fraction(above: int, below: int) -> str:
    name = _FRACTIONS.get(below) or ordinal(below)
    if above == 1:
        return f"one {name}"
    return f"{cardinal(above)} {'halves' if below == 2 else name + 's'}"


def grouped(number: int) -> str:
    """A number that names something, as flights, rooms and models are called: 747 seven forty-seven, 302 three oh two."""
    if 100 < number < 1000 and number % 100:
        return f"{cardinal(number // 100)} {'oh ' if number % 100 < 10 else ''}{cardinal(number % 100)}"
    if 1000 < number < 10000 and number % 1000:
        return year(number)
    return cardinal(number)


def money(amount: str, unit: tuple[str, str], cents: tuple[str, str] | None) -> str:
    """amount "3.14", unit ("dollar", "dollars"), cents ("cent", "cents"): three dollars and fourteen cents."""
    whole, _, rest = amount.replace(",", "").partition(".")
    if not rest or cents is None or len(rest) > 2:
        return f"{plain(amount)} {unit[0] if amount == '1' else unit[1]}"
    main, small = int(whole or 0), int(rest.ljust(2, "0"))
    parts = []
    if main or not small:
        parts.append(f"{cardinal(main)} {unit[0] if main == 1 else unit[1]}")
    if small:
        parts.append(f"{cardinal(small)} {cents[0] if small == 1 else cents[1]}")
    return " and ".join(parts)
