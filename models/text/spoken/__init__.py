"""Written text to spoken words, one module a language."""
from __future__ import annotations

import importlib

OWN_RULES = ("en", "zh", "ja")


def spoken_form(text: str, language: str) -> str:
    from models.text.spoken.common import clean

    text = clean(text)
    if not text:
        return ""
    module = language if language in OWN_RULES else "others"
    return importlib.import_module(f"models.text.spoken.{module}").spoken(text, language)
