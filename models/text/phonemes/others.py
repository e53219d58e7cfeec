"""Spanish, French, Hindi, Italian, Portuguese to Kokoro's phonemes: espeak-ng's IPA in misaki's alphabet."""
from __future__ import annotations

from models.text.phonemes import espeak_ng

VOICES = {"es": "es", "fr": "fr-fr", "hi": "hi", "it": "it", "pt": "pt-br"}
_FROM_ESPEAK = [
    ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^z", "ʣ"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("o^ʊ", "O"), ("ə^ʊ", "Q"), ("s^s", "S"),
    ("t^s", "ʦ"), ("t^ʃ", "ʧ"), ("ɔ^ɪ", "Y"), ("^", ""), ("-", ""),
]


def phonemes(text: str, language: str) -> str:
    """text: normalised; language: a key of VOICES."""
    parts = []
    for spoken, mark in espeak_ng.clauses(text, VOICES[language], tie="^"):
        for old, new in _FROM_ESPEAK:
            spoken = spoken.replace(old, new)
        parts.append(spoken + mark)
    return " ".join(parts)
