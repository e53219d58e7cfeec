"""Cut a segment's text into runs of one language each."""
from __future__ import annotations

import re

from models.text.segment import Run

# In Chinese and Japanese text a number keeps its unit, and is read in the language around it.
_UNIT = re.compile(
    r"(?<![A-Za-z0-9])\d[\d.,]*\s?(?:km/h|kWh|kW|km|cm|mm|nm|kg|mg|g|ml|mL|L|m|GB|MB|KB|TB|Hz|kHz|MHz|GHz|kcal|cal"
    r"|℃|°C|V|W|m²|m³|㎡|am|pm|AM|PM)(?![A-Za-z0-9])")
_TOKEN = re.compile(r"(?:https?://|www\.)[^\s，。！？、；：）】」』《》\u3041-\u30ff\u4e00-\u9fff]+"
                    r"|[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
                    r"|(?<![\w.])(?:[A-Za-z0-9-]+\.)+(?:com|org|net|edu|gov|io|cn|jp|uk|ai|dev|co)(?:/[\w./?=&%#-]*)?(?!\w)"
                    r"|(?<![A-Za-z])[A-Za-z][A-Za-z]*(?:[-'’.]?[A-Za-z0-9]+)+")


def language_runs(text: str, found: str, choice: dict[str, str], main: str) -> tuple[Run, ...]:
    """Runs that cover `text` in order.

    found: kinds of its characters. choice: kind of letter -> language. main: for text without letters.
    """
    owner: list[str | None] = [choice.get(code) for code in found]
    languages = {language for language in owner if language}
    if len(languages) <= 1:
        return (Run(text, languages.pop() if languages else main),)
    asian = next((choice[code] for code in "KH" if code in choice and code in found), None)
    if asian:
        _claim_tokens(text, owner, choice, asian)
    _fill_neutral(text, found, owner, asian)
    runs, begin = [], 0
    for at in range(1, len(text) + 1):
        if at == len(text) or owner[at] != owner[begin]:
            runs.append(Run(text[begin:at], owner[begin] or main))
            begin = at
    return tuple(runs)


def _claim_tokens(text: str, owner: list[str | None], choice: dict[str, str], asian: str) -> None:
    latin = choice.get("L")
    for match in _TOKEN.finditer(text):
        if latin:
            owner[match.start():match.end()] = [latin] * (match.end() - match.start())
    for match in _UNIT.finditer(text):
        owner[match.start():match.end()] = [asian] * (match.end() - match.start())
    if asian == "ja":  # acronyms have Japanese names of their letters
        for match in re.finditer(r"(?<![A-Za-z0-9'-])[A-Z]{2,5}(?![A-Za-z0-9'-])", text):
            before, after = text[:match.start()].rstrip()[-1:], text[match.end():].lstrip()[:1]
            if not (before.isascii() and before.isalpha()) and not (after.isascii() and after.isalpha()):
                owner[match.start():match.end()] = ["ja"] * (match.end() - match.start())


def _fill_neutral(text: str, found: str, owner: list[str | None], asian: str | None) -> None:
    """Give digits, punctuation and spaces to a neighbour: spaces and closing marks to the run before them, digits
    between two languages to the Chinese or Japanese one."""
    at = 0
    while at < len(text):
        if owner[at] is not None:
            at += 1
            continue
        end = at
        while end < len(text) and owner[end] is None:
            end += 1
        before = owner[at - 1] if at else None
        after = owner[end] if end < len(text) else None
        if before is None or after is None or before == after:
            fill = [before or after] * (end - at)
            if asian and "N" in found[at:end] and before != after:
                first = next(i for i in range(at, end) if found[i] == "N")
                fill = [before or asian] * (first - at) + [asian] * (end - first)
        elif asian and "N" in found[at:end]:
            fill = [asian] * (end - at)
        else:
            cut = at
            while cut < end and (found[cut] == "w" or text[cut] in ",.!?;:)]}”’»，。！？；：、）】」』》…—%"):
                cut += 1
            fill = [before] * (cut - at) + [after] * (end - cut)
        owner[at:end] = fill
        at = end
