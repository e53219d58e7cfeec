"""The stock voices' names: what an id says about language and gender, and which voice speaks a language by default."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from models.families.protocol import Voice

LANGUAGES = ("en", "zh", "ja", "es", "fr", "hi", "it", "pt")
OF_PREFIX = {"a": "en-us", "b": "en-gb", "e": "es", "f": "fr", "h": "hi", "i": "it", "j": "ja", "p": "pt", "z": "zh"}
# best grade in the model card's VOICES.md, by language; others follow in alphabetical order
FAVOURITES = {
    "en": "af_heart", "en-us": "af_heart", "en-gb": "bf_emma", "zh": "zf_xiaoxiao", "ja": "jf_alpha", "es": "ef_dora",
    "fr": "ff_siwis", "hi": "hf_alpha", "it": "if_sara", "pt": "pf_dora",
}


def describe(voice_id: str) -> Voice:
    """"af_heart" -> American English, female, "Heart". An id of another form says nothing but its name."""
    prefix, _, name = voice_id.partition("_")
    known = len(prefix) == 2 and prefix[0] in OF_PREFIX and prefix[1] in "fm" and name
    if not known:
        return Voice(voice_id, voice_id.replace("_", " ").title(), "en-us")
    return Voice(voice_id, name.replace("_", " ").title(), OF_PREFIX[prefix[0]], prefix[1])


def arranged(ids: Iterable[str]) -> list[Voice]:
    """Voices in the order they are shown: by language, each language's favourite first."""
    order = list(OF_PREFIX.values())
    voices = [describe(voice_id) for voice_id in ids]
    return sorted(voices, key=lambda v: (order.index(v.language), v.id != FAVOURITES.get(v.language), v.id))


def default_voice(voices: Sequence[Voice], language: str) -> str:
    """The id that speaks `language` ("en", "en-gb"; "auto" counts as English); any voice where none is native."""
    tag = language.lower().replace("_", "-")
    tag = "en" if tag in ("", "auto") else tag
    ids = [voice.id for voice in voices]
    for wish in (tag, tag.split("-")[0]):
        if FAVOURITES.get(wish) in ids:
            return FAVOURITES[wish]
        native = [voice.id for voice in voices if voice.language == wish or voice.language.split("-")[0] == wish]
        if native:
            return native[0]
    return ids[0]
