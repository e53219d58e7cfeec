"""What is true of every language: full-width forms, quotes, line breaks, emoji and unknown characters."""
from __future__ import annotations

import re
import unicodedata

from models.text.borders import is_soft_break
from models.text.scripts import kind

_KEEP = set("。、，；：？！．「」『』《》〈〉【】（）〜～・ー…—–“”‘’«»·°℃℉€£¥₹₩¢§№〒²³×÷±≈≠≤≥√∞→™©®‰′″µΩ㎡㎏")
_FOLD = {"’": "'", "‘": "'", "‛": "'", "ʼ": "'", "＇": "'", "‐": "-", "‑": "-", "−": "-", "\u00ad": "", "\ufeff": "",
         "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\xa0": " ", "￥": "¥", "￡": "£", "￠": "¢", "￦": "₩", "⁄": "/",
         "।": ".", "॥": ".", "؟": "?", "،": ",", "؛": ";", "‚": ",", "„": "“", "‹": "«", "›": "»", "﹣": "-", "\u3000": " ", "\u202f": " ", "\u2009": " "}


_ASCII_MARKS = str.maketrans({"。": ". ", "、": ", ", "，": ", ", "；": "; ", "：": ": ", "？": "? ", "！": "! ", "．": ". ",
                              "（": " (", "）": ") ", "「": " “", "」": "” ", "『": " “", "』": "” ", "《": " “", "》": "” ",
                              "【": " (", "】": ") ", "〈": " “", "〉": "” ", "〜": "~", "～": "~", "・": " ", "ー": "—"})


def western(text: str) -> str:
    """Full-width punctuation, as it comes with words inside a Chinese or Japanese sentence, in its western form."""
    return text.translate(_ASCII_MARKS)


def clean(text: str) -> str:
    """Printable text in composed form: emoji and characters nobody reads dropped, line breaks made pauses."""
    text = unicodedata.normalize("NFC", text)
    text = "".join(_FOLD.get(char) if char in _FOLD else _fold(char) for char in text)
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r"[\r\n\x0b\x0c\x85\u2028\u2029]\s*", _line_break(text), text)
    text = re.sub(r"([^\w\s])\1{3,}", r"\1\1\1", text)
    return re.sub(r"\s+", " ", text).strip()


def _fold(char: str) -> str:
    if char < "\x80":
        return char if char.isprintable() or char.isspace() else " "
    code = kind(char)
    if "\uff01" <= char <= "\uff5e" and code in "LN":  # full-width letters and digits
        return unicodedata.normalize("NFKC", char)
    if char in _KEEP or char.isspace():
        return char
    if code == "N":
        return _number(char)
    if code in "eX":
        return " " if code == "e" else ""
    folded = unicodedata.normalize("NFKC", char)
    if "\uff01" <= char <= "\uff5e" or code in "LHK":
        return folded if "\uff01" <= char <= "\uff5e" or len(folded) == 1 else folded
    return char if code in "mDGCEA" else (folded if folded.isascii() else " ")


def _number(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    folded = unicodedata.normalize("NFKC", char).replace("⁄", "/")
    if folded != char and all(part.isascii() for part in folded):
        return f" {folded} "
    value = unicodedata.numeric(char, None)
    return f" {int(value)} " if value is not None and value == int(value) else " "


def _line_break(text: str):
    def replace(match: re.Match[str]) -> str:
        before, after = text[max(0, match.start() - 80):match.start()].rstrip(), text[match.end():match.end() + 1]
        if not before or before[-1] in ".!?,;:。！？，；：、…—" or "\n\n" not in match.group() and is_soft_break(before, after):
            return " "
        return "。" if kind(before[-1]) in "HK" else ". "

    return replace
