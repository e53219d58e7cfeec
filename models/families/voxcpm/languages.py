"""What each generation speaks (model cards), as BCP 47 primary tags.

Of VoxCPM 2's thirty languages, Burmese, Hebrew, Khmer, Lao and Thai wait for the text front end to know their letters.
"""
from __future__ import annotations

FIRST = ("en", "zh")
SECOND = ("en", "zh", "ar", "da", "de", "el", "es", "fi", "fr", "hi", "id", "it", "ja", "ko", "ms", "nl", "no", "pl", "pt",
          "ru", "sv", "sw", "tl", "tr", "vi")
