"""Chinese to Kokoro v1.0's phonemes: jieba's words, pypinyin's readings, misaki's IPA with tone arrows."""
from __future__ import annotations

import re
from functools import lru_cache

from models.text.words import chinese

_MARKS = str.maketrans({
    "、": ", ", "，": ", ", "。": ". ", "．": ". ", "！": "! ", "？": "? ", "：": ": ", "；": "; ", "（": " (", "）": ") ",
    "《": " “", "》": "” ", "「": " “", "」": "” ", "『": " “", "』": "” ", "【": " “", "】": "” ", "〈": " “", "〉": "” ",
})
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]+(?:['-][A-Za-zÀ-ɏ]+)*")
_HAN = re.compile(r"[\u3400-\u9fff〇]+")


@lru_cache(maxsize=1)
def _readings():
    from misaki.zh import ZHG2P
    from pypinyin import Style, lazy_pinyin

    return lambda word: lazy_pinyin(word, style=Style.TONE3, neutral_tone_with_five=True, errors="ignore"), ZHG2P.py2ipa


@lru_cache(maxsize=4096)
def _syllable(pinyin: str) -> str:
    """Kokoro's phonemes of one syllable with its tone number; "" for one outside standard Chinese."""
    try:
        return _readings()[1](pinyin).replace("\u032f", "")
    except (ValueError, KeyError, AssertionError):
        return ""


def _words(match: re.Match[str]) -> str:
    pinyin = _readings()[0]
    return " " + " ".join("".join(map(_syllable, pinyin(word))) for word in chinese().cut(match.group())) + " "


def phonemes(text: str) -> str:
    """text: normalised Chinese (no digits). Latin words in it are read as American English."""
    text = text.translate(_MARKS)
    return _HAN.sub(_words, _LATIN.sub(lambda m: f" {_english(m.group())} ", text))


def _english(word: str) -> str:
    from models.text.phonemes import english

    return english.phonemes(word, british=False)
