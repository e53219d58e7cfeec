"""Written text to spoken words, one module a language."""
from __future__ import annotations

import importlib

OWN_RULES = ("en", "zh", "ja")


def spoken_form(text: str, language: str) -> str:
    """Digits, dates, prices and the rest in words; emoji and unknown characters left out; "" if nothing is left.

    language: a primary tag; a region ("en-gb") is ignored.
    """
    from models.text.spoken.common import clean, western

    language = language.lower().split("-")[0]
    text = clean(text if language in ("zh", "ja") else western(text))
    if not text:
        return ""
    module = language if language in OWN_RULES else "others"
    return importlib.import_module(f"models.text.spoken.{module}").spoken(text, language)
