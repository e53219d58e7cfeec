"""Phonemes: what the voices read. All functions are safe from any thread."""
from __future__ import annotations

from collections.abc import Sequence

from models.slots import Slots
from models.text.segment import Run

KOKORO_LANGUAGES = ("en", "zh", "ja", "es", "fr", "hi", "it", "pt")
cache: Slots[str] = Slots("phoneme_cache", 2048, len)


def kokoro(text: str, language: str) -> str:
    """Text of one language to Kokoro's alphabet (`alphabet.VOCABULARY`); "" if nothing can be said.

    text is normalised here (`models.text.normalise`; what is normalised already stays as it is). language: one of
    KOKORO_LANGUAGES, "en-us" or "en-gb" ("en" reads American).
    """
    return cache.get((text, language.lower()), lambda: _kokoro(text, language.lower()))[0]


def _kokoro(text: str, language: str) -> str:
    from models.text import normalise
    from models.text.phonemes.alphabet import in_vocabulary

    base = language.split("-")[0]
    spoken = normalise(text, base)
    if not any(char.isalnum() for char in spoken):
        return ""
    if base == "en":
        from models.text.phonemes import english

        return in_vocabulary(english.phonemes(spoken, british=language == "en-gb"))
    if base == "zh":
        from models.text.phonemes import chinese

        return in_vocabulary(chinese.phonemes(spoken))
    if base == "ja":
        from models.text.phonemes import japanese

        return in_vocabulary(japanese.phonemes(spoken))
    from models.text.phonemes import others

    return in_vocabulary(others.phonemes(spoken, base))


def kokoro_runs(runs: Sequence[Run], english: str = "en-us") -> str:
    """The runs of a segment as one phoneme string, a space between them. english: "en-us" or "en-gb"."""
    from models.text.phonemes.alphabet import in_vocabulary

    return in_vocabulary(" ".join(kokoro(run.text, english if run.language == "en" else run.language) for run in runs))


def espeak(text: str, voice: str) -> str:
    """espeak-ng's IPA with stress and punctuation, as Piper voices expect. voice: espeak's name ("en-us", "cmn").

    The text is read as it stands: normalise it first. Raises ValueError for a voice espeak-ng doesn't know.
    """
    from models.text.phonemes import espeak_ng

    return cache.get((text, "espeak", voice), lambda: espeak_ng.ipa(text, voice))[0]
