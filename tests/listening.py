"""Ears for speech tests: what was spoken, written down again by Whisper base, and how far that is from the text."""
from __future__ import annotations

import unicodedata

import jiwer
import numpy as np

from models.voices.transcribe import hear


def transcribe(samples: np.ndarray, rate: int, language: str) -> str:
    """What Whisper hears. samples: mono float at `rate` Hz; language: "en", "zh", "ja", ..."""
    return hear(samples, rate, language, timed=False).text


def word_error_rate(reference: str, heard: str) -> float:
    """Words substituted, left out and put in, over the words of `reference`; case and punctuation don't count."""
    return jiwer.wer(plain(reference), plain(heard))


def character_error_rate(reference: str, heard: str) -> float:
    """The same in characters without spaces, for languages written without them."""
    return jiwer.cer(plain(reference).replace(" ", ""), plain(heard).replace(" ", "") or " ")


def plain(text: str) -> str:
    """Lower case, full-width forms folded, hyphens and dashes as spaces, other punctuation and symbols dropped."""
    kept = []
    for char in unicodedata.normalize("NFKC", text).casefold():
        kind = unicodedata.category(char)
        if kind[0] in "LNM":
            kept.append(char)
        elif kind in ("Pd", "Zs", "Cc"):
            kept.append(" ")
    return " ".join("".join(kept).split())
