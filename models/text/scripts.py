"""Kinds of characters: which of them can be spoken, and by which languages."""
from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import emoji

LATIN_LANGUAGES = ("en", "es", "fr", "it", "pt", "de", "nl", "pl", "tr", "sv", "da", "fi", "ro", "cs", "vi", "id")
# language -> kinds of letters it reads itself
LETTERS = {
    "zh": frozenset("H"),
    "ja": frozenset("HK"),
    "hi": frozenset("D"),
    "ko": frozenset("G"),
    "ru": frozenset("C"), "uk": frozenset("C"), "bg": frozenset("C"),
    "el": frozenset("E"),
    "ar": frozenset("A"), "fa": frozenset("A"),
}
KIND_NAMES = {
    "L": {"en": "Latin letters", "zh": "拉丁字母"},
    "H": {"en": "Chinese characters", "zh": "汉字"},
    "K": {"en": "Japanese kana", "zh": "日文假名"},
    "D": {"en": "Devanagari letters", "zh": "天城文字母"},
    "G": {"en": "Korean letters", "zh": "韩文"},
    "C": {"en": "Cyrillic letters", "zh": "西里尔字母"},
    "E": {"en": "Greek letters", "zh": "希腊字母"},
    "A": {"en": "Arabic letters", "zh": "阿拉伯文"},
    "X": {"en": "letters no voice here can read", "zh": "无法朗读的文字"},
    "e": {"en": "emoji", "zh": "表情符号"},
    "p": {"en": "punctuation", "zh": "标点符号"},
    "s": {"en": "symbols", "zh": "符号"},
}
# Latin letters that don't decompose to an ASCII letter plus marks, and are read all the same
_LATIN_EXTRA = frozenset("ßæœøðþłđıŋəɛɔħ" + "ßæœøðþłđıŋəɛɔħ".upper())
_SCRIPT_WORDS = (
    ("LATIN", "L"), ("CJK UNIFIED", "H"), ("CJK COMPATIBILITY IDEOGRAPH", "H"), ("HIRAGANA", "K"), ("KATAKANA", "K"),
    ("DEVANAGARI", "D"), ("HANGUL", "G"), ("CYRILLIC", "C"), ("GREEK", "E"), ("ARABIC", "A"),
)


def letters_of(language: str) -> frozenset[str]:
    """The kinds of letters `language` reads by itself ("L" for every language not in LETTERS)."""
    return LETTERS.get(language, frozenset("L"))


@lru_cache(maxsize=65536)
def kind(char: str) -> str:
    """One letter for the kind of a character.

    Letters: L Latin, H Han, K kana, D Devanagari, G Hangul, C Cyrillic, E Greek, A Arabic, X any other.
    Others: N digit or number sign, e emoji, p punctuation, s symbol, m combining mark, w space or control.
    """
    if char < "\x80":
        if char.isalpha():
            return "L"
        if char.isdigit():
            return "N"
        if char.isspace() or char < " " or char == "\x7f":
            return "w"
        return "s" if char in "#$%&*+/<=>@\\^_`|~" else "p"
    if "\u4e00" <= char <= "\u9fff" or char in "々〇" or "\u3400" <= char <= "\u4dbf":
        return "H"
    if "\u3041" <= char <= "\u3096" or "\u30a1" <= char <= "\u30fa" or char == "ー":
        return "K"
    folded = unicodedata.normalize("NFKC", char)
    if len(folded) == 1 and folded != char:
        return kind(folded)
    category = unicodedata.category(char)
    if category.startswith("N"):
        return "N" if _has_value(char) else "s"
    if emoji.is_emoji(char) or char in "\ufe0f\u20e3" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return "e"
    if category.startswith("M"):
        return "D" if "\u0900" <= char <= "\u097f" else "m"
    if category.startswith("L"):
        return _letter(char, folded)
    if category.startswith("P"):
        return "p"
    if category.startswith("S"):
        return "s"
    return "w"


def _has_value(char: str) -> bool:
    return unicodedata.numeric(char, None) is not None


def _letter(char: str, folded: str) -> str:
    if len(folded) > 1 and all(kind(part) in "LmHKD" for part in folded):
        return next(iter(kind(part) for part in folded if kind(part) != "m"), "X")
    name = unicodedata.name(char, "")
    found = next((code for word, code in _SCRIPT_WORDS if name.startswith(word)), "X")
    if found == "L" and char not in _LATIN_EXTRA:
        base = unicodedata.normalize("NFKD", char)[0]
        return "L" if base.isascii() and base.isalpha() else "X"
    if found in "HK" and not ("\uf900" <= char <= "\ufaff"):
        return "K" if found == "K" and char in "ヷヸヹヺ" else "X"
    return found


def kinds(text: str) -> str:
    """The kind of each character of `text`, as a string of the same length. A long-vowel mark counts after kana only."""
    found = "".join(map(kind, text))
    return re.sub(r"(?<!K)K+", lambda m: _long_marks(text, m), found) if "ー" in text else found


def _long_marks(text: str, match: re.Match[str]) -> str:
    piece = text[match.start():match.end()]
    marks = len(piece) - len(piece.lstrip("ー"))
    return "p" * marks + "K" * (len(piece) - marks)


def describe(found: str) -> dict[str, str]:
    """What `found` (a string of kinds) consists of, in words, per language of the messages."""
    names = [KIND_NAMES[code] for code in KIND_NAMES if code in found]
    return {"en": " and ".join(name["en"] for name in names), "zh": "和".join(name["zh"] for name in names)}
