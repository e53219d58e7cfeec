"""English in spoken form: rules in the order in which they may claim a piece of the text.

Each rule turns what it recognises into words without digits, so that later, broader rules don't see it again.
"""
from __future__ import annotations

import re
from collections.abc import Callable

from models.text.spoken import en_words as names
from models.text.spoken.codes import spell_addresses
from models.text.spoken.en_dates import DATE_RULES
from models.text.spoken.en_numbers import cardinal, decade, digits, fraction, grouped, money, ordinal, plain, year
from models.text.spoken.roman import ROMAN_RULES

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_SCALE = r"thousand|million|billion|trillion|(?:[kKmMB]|[mbtMB]n)(?![A-Za-z])"
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion", "tn": "trillion"}
_UNITS = "|".join(re.escape(unit) for unit in sorted(names.UNITS, key=len, reverse=True))
_SIGNS = "|".join(re.escape(sign) for sign in sorted(names.CURRENCIES, key=len, reverse=True) if not sign.isalpha())
_CODES = "|".join(code for code in names.CURRENCIES if code.isalpha())


def _phone(match: re.Match[str]) -> str:
    text = match.group().strip()
    plus = "plus " if text.startswith("+") else ""
    return plus + ", ".join(digits(group) for group in re.findall(r"\d+", text))


def _price(sign: str, amount: str, scale: str | None, noun: str | None = None) -> str:
    unit, cents = names.CURRENCIES[sign]
    if scale:
        scale = _SCALES.get(scale.lower(), scale.lower())
        if noun:
            return f"{plain(amount)} {scale} {unit[0]} {noun}"
        return f"{plain(amount)} {scale} {unit[1]}"
    return f"{money(amount, unit, cents)}{' ' + noun if noun else ''}"


def _ratio(match: re.Match[str]) -> str:
    above, below = int(match.group(1)), int(match.group(2))
    if match.group() in ("24/7", "9/11", "7/11", "50/50"):
        return f"{cardinal(above)} {cardinal(below)}"
    if above < below and below in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32, 64, 100, 1000):
        return fraction(above, below)
    return f"{cardinal(above)} over {cardinal(below)}"


def _mixed(match: re.Match[str]) -> str:
    part = fraction(int(match.group(2)), int(match.group(3)))
    return f"{cardinal(int(match.group(1)))} and {part.replace('one ', 'a ', 1) if part.startswith('one ') else part}"


def _bare(match: re.Match[str]) -> str:
    """A four-digit number: a year, unless things are counted."""
    number, after = int(match.group(1)), match.group(2) or ""
    word = after.strip().lower()
    counted = word.endswith("s") and not word.endswith("ss") and word not in ("is", "was", "has", "as", "this", "its", "vs")
    if counted or number < 1100 or number % 1000 == 0:
        return cardinal(number) + after
    return year(number) + after


def _code(match: re.Match[str]) -> str:
    """Letters and digits in one word: GPT-4, B2B, A380, 5G."""
    parts = re.findall(r"[A-Za-z]+|\d+", match.group())
    return " ".join(part if part.isalpha() else (grouped(int(part)) if part[0] != "0" and len(part) < 5 else digits(part))
                    for part in parts)


def _street(match: re.Match[str]) -> str:
    before, name, after = match.group(1), match.group(2), match.group(3)
    street = bool(re.search(r"[A-Z0-9][\w']*\s$", before)) and not re.search(r"\b(?:The|In|At|Of|And|On|From|To|Our|We|I)\s$", before)
    word = {"St": ("Saint", "Street"), "Dr": ("Doctor", "Drive")}[name][street]
    ends = street and (not after.strip() or re.match(r"\s+(?:The|He|She|It|We|They|I|But|And|This|That)\b", after))
    return f"{before}{word}{'.' if ends else ''}{after}"


def _rules() -> list[Rule]:
    table: list[tuple[str, Callable[[re.Match[str]], str]]] = [
        # telephone numbers
        (r"(?<![\w.])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?!\w)", _phone),
        (r"(?<![\w.-])(?:1[- .])?(?:\(\d{3}\)\s?|\d{3}[-. ])\d{3}[-.]\d{4}(?![\w-])", _phone),
        (r"(?<![\w.-])\d{3}-\d{4}(?![\w-])", _phone),
        (r"(?<![\w.-])0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}(?![\w-])", _phone),
        (r"(?i)(?<=\bcall |\bdial )\d{3}(?!\w|,\d|\s+(?:people|times|men|women))", lambda m: digits(m.group())),
        (r"\b(?=911\b)911(?! (?:people|points|pages))", lambda m: digits(m.group())),
        *DATE_RULES,
        # money
        (rf"(?<!\w)({_SIGNS})\s?({_NUMBER})\s?[-–]\s?(?:{_SIGNS})?({_NUMBER})(?:[ ]?({_SCALE}))?(?![\w])",
         lambda m: f"{plain(m.group(2))} to {_price(m.group(1), m.group(3), m.group(4))}"),
        (rf"(?<!\w)({_SIGNS})\s?({_NUMBER})[- ]?({_SCALE})\b(?:[ -]((?:deal|contract|project|plan|loan|bid|budget|fund|fine|bill|lawsuit|house|offer|investment|company|business|program|programme|campaign|home|industry|market|settlement|grant|prize)s?)\b)?",
         lambda m: _price(m.group(1), m.group(2), m.group(3), m.group(4))),
        (rf"(?<!\w)({_SIGNS})\s?({_NUMBER})(?!\w)", lambda m: _price(m.group(1), m.group(2), None)),
        (rf"\b({_CODES})\s?({_NUMBER})(?:\s({_SCALE}))?\b", lambda m: _price(m.group(1), m.group(2), m.group(3))),
        (rf"(?<![\w.])({_NUMBER})(?:\s({_SCALE}))?\s?({_CODES}|[€£¥₹])(?!\w)",
         lambda m: _price(m.group(3), m.group(1), m.group(2))),
        (r"(?<![\w.])(\d+)\s?¢", lambda m: money("0." + m.group(1).zfill(2), *names.CURRENCIES["$"])),
        (r"\b([A-Z]{1,3})&([A-Z]{1,3})\b", lambda m: " ".join(m.group(1)) + " and " + " ".join(m.group(2))),
        (r"(?<![\w.])([3-8])'\s?(1[01]|\d)\"?(?!\w)", lambda m: f"{cardinal(int(m.group(1)))} foot {cardinal(int(m.group(2)))}"),
        (r"(?<![\w.:])(\d+):(\d+)(?![\w:])", lambda m: f"{cardinal(int(m.group(1)))} to {cardinal(int(m.group(2)))}"),
        (r"(?<=\d)\^(?=-?\d)", lambda m: " to the power of "),
        # percentages, decades
        (rf"(?<![\w.])({_NUMBER})%?\s?[-–]\s?({_NUMBER})\s?%", lambda m: f"{plain(m.group(1))} to {plain(m.group(2))} percent"),
        (rf"(?<![\w.])([-+]?{_NUMBER})\s?%", lambda m: f"{plain(m.group(1))} percent"),
        (r"(?<![\w'.,])(1\d\d0|20\d0)'?s\b", lambda m: decade(m.group(1))),
        (r"(?<!\w)'?([1-9]0)'?s\b", lambda m: decade(m.group(1))),
        (r"(?<=ies|eds|nds)\s?[-–]\s?(?=nineteen|twenty|eighteen|two)", lambda m: " to "),
        (r"(?<!\w)'(\d)(\d)(?!\w)", lambda m: ("oh " if m.group(1) == "0" else "") + cardinal(int(m.group(1) + m.group(2)))),
        # fractions
        (r"(?<![\w./])(\d+)[ -]+([1-9]\d?)/([1-9]\d?)(?![\w/])", _mixed),
        (r"(?<![\w./])([1-9]\d{0,3})/([1-9]\d{0,3})(?![\w/])", _ratio),
        # units
        (rf"(?<![\w.])({_NUMBER})\s?[-–]\s?({_NUMBER})\s?({_UNITS})(?![\w/²³])",
         lambda m: f"{plain(m.group(1))} to {plain(m.group(2))} {names.unit_name(m.group(3), m.group(2))}"),
        (r"(?<![\w.])(\d[\d.,]*)[ -]?(GB|MB|TB|KB|kg|km|mm|cm|mph|ft|oz|ml)(?=[ -](?:card|drive|disk|plan|file|version|model|race|run|walk|lens|gun|film|bag|bottle|radius|zone|limit|wall|stick|memory|cable|module))",
         lambda m: f"{plain(m.group(1).rstrip('.,'))} {names.UNITS[m.group(2)]}"),
        (rf"(?<![\w.,])([-+]?{_NUMBER})(\s?)({_UNITS})(?![\w/²³'])", _unit),
        # ordinals, names, abbreviations
        (r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th)\b", lambda m: ordinal(int(m.group(1).replace(",", "")))),
        *ROMAN_RULES,
        (r"((?:[\w']+\s)?)\b(St|Dr)\.(\s+\w+|\s*$|(?=,))", _street),
        (r"\b(" + "|".join(names.BEFORE_NUMBER) + r")\.?\s?(?=#?\d)", _before_number),
        (r"(?<![\w-])#(?=\d)", lambda m: "number "),
        (r"(?<!\w)#(?=[A-Za-z])", lambda m: "hashtag "),
        (r"\b(" + "|".join(names.BEFORE_NAME) + r")\.?(?=\s+[A-Z])", lambda m: names.BEFORE_NAME[m.group(1)]),
        (r"(?<=[\w,] )\b(" + "|".join(names.AFTER_NAME) + r")\b(?:\.(?!\s*$)|(?=\.))", lambda m: names.AFTER_NAME[m.group(1)]),
        (r"(?<![\w.])(" + "|".join(re.escape(word) for word in sorted(names.ANYWHERE, key=len, reverse=True)) + r")(?!\w)",
         lambda m: names.ANYWHERE[m.group(1)] + ("." if m.group().endswith(".") and not m.string[m.end():].strip() else "")),
        (r"(?<![\w.])([ap])\.?m\.?(?![\w])", lambda m: f"{m.group(1).upper()} M" if "." in m.group() else m.group()),
        (r"\b(BCE|BC|AD|CE)\b", lambda m: " ".join(m.group())),
        # numbers
        (r"(?i)(?<=\broom )(\d{3,4})\b|(?<=\bflight )(\d{3,4})\b|(?<=\broute )(\d{3})\b|(?<=\bboeing )(\d{3})\b",
         lambda m: grouped(int(next(filter(None, m.groups()))))),
        (r"(?<![\w.,-])(1[1-9]\d\d|20\d\d)\s?[-–]\s?(\d{4})(?![\w-])", lambda m: f"{year(int(m.group(1)))} to {year(int(m.group(2)))}"),
        (r"(?<![\w.,-])(1[1-9]\d\d|20\d\d)\s?[-–]\s?(\d\d)(?![\w-])", lambda m: f"{year(int(m.group(1)))} to {cardinal(int(m.group(2)))}"),
        (rf"(?<![\w.,-])({_NUMBER})\s?[-–]\s?({_NUMBER})(?![\w-])", lambda m: f"{plain(m.group(1))} to {plain(m.group(2))}"),
        (r"(?<![\w.,])\d+(?:\.\d+){2,}(?!\w)", lambda m: " point ".join(cardinal(int(part)) for part in m.group().split("."))),
        (r"(?<![\w.,$-])(1[1-9]\d\d|20\d\d)(?![\w,]*\d|\.\d)(?!%)(\s+[a-z]+)?", _bare),
        (rf"(?<![\w.]){_NUMBER}\s?x\s?{_NUMBER}", lambda m: " by ".join(map(plain, re.split(r"\s?x\s?", m.group())))),
        (r"(?<!\w)(?=[A-Za-z\d-]*\d)(?=[A-Za-z\d-]*[A-Za-z])[A-Za-z\d]+(?:-[A-Za-z\d]+)*", _code),
        (rf"(?:(?<=^)|(?<=[\s(]))[-+](?={_NUMBER})({_NUMBER})", lambda m: plain(m.group())),
        (r"\d{11,}", lambda m: digits(m.group())),
        (_NUMBER, lambda m: plain(m.group())),
        (r"\d+", lambda m: digits(m.group())),
        (r"(?<=\w)\s?\+\s?(?=\w)", lambda m: " plus "),
        (r"\+", lambda m: " plus "),
        (r"(?<=\w)\s<\s(?=\w)", lambda m: " is less than "), (r"(?<=\w)\s>\s(?=\w)", lambda m: " is greater than "),
        (r"(?<!\w)~(?=\w)", lambda m: "about "),
        (r"(?<=[A-Za-z])/(?=[A-Za-z])", lambda m: " "),
        ("[" + re.escape("".join(names.SYMBOLS)) + "]", lambda m: names.SYMBOLS[m.group()]),
        (r"[*_|\\^`~<>#{}\[\]/]+", lambda m: " "),
    ]
    return [(re.compile(pattern), replace) for pattern, replace in table]


def _unit(match: re.Match[str]) -> str:
    amount, gap, unit = match.groups()
    if unit in ("in", "s", "h", "t", "m", "V", "W", "L", "l", "g") and (gap if unit == "in" else False):
        if unit == "in" and not re.match(r"\s*[.,;)]", match.string[match.end():]):
            return match.group()  # "5 in the morning"
    if unit == "s" and not gap and len(amount) > 1:
        return match.group()
    return f"{plain(amount)} {names.unit_name(unit, amount)}"


def _before_number(match: re.Match[str]) -> str:
    if match.group(1) in ("p", "no", "Art", "Sec", "sec") and "." not in match.group():
        return match.group()
    return names.BEFORE_NUMBER[match.group(1)] + " "


_COMPILED = _rules()


def spoken(text: str, language: str = "en") -> str:
    text = spell_addresses(text, "en")
    for pattern, replace in _COMPILED:
        text = pattern.sub(replace, text)
    text = re.sub(r"([!?])[!?.]+", r"\1", text)
    text = re.sub(r"\s+([,.;:!?])", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()
