"""Text to the phoneme ids a Piper voice reads."""
from __future__ import annotations

import re
import unicodedata

from models.families.vits.piper import BOS, EOS, PAD, PiperVoice
from models.text.scripts import describe, kinds, letters_of
from models.text.segment import Segment

FOREIGN_SHARE = 0.1  # of a text, above which a voice of another script should not try
NAMED = frozenset("E")  # letters that espeak-ng names in every language: a stray Greek one is a symbol


def foreign(text: str, language: str) -> dict[str, str] | None:
    """What the text is written in, in words per language of the messages, if too much of it is in letters that
    `language` doesn't use; else None. A little of that is left to espeak-ng, which says what kind of letter it is."""
    found = [code for code in kinds(text) if code not in "Nepsmw"]
    strange = [code for code in found if code not in letters_of(language) | (NAMED if set(found) > NAMED else set())]
    weight = sum(3 if code in "HK" else 1 for code in strange)
    if weight <= FOREIGN_SHARE * (weight + len(found) - len(strange)):
        return None
    return describe("".join(strange))


def phoneme_ids(segment: Segment, voice: PiperVoice) -> list[int]:
    """Ids of one segment, with the voice's start, end and padding symbols; empty if nothing in it can be read."""
    if voice.phoneme_type == "text":
        spoken = segment.text
    else:
        from models.text import normalise
        from models.text.phonemes import espeak

        spoken = espeak(" ".join(normalise(segment.text, voice.tag).split()), voice.espeak_voice)
    if segment.ends in ("clause", "word") and spoken[-1:].isalpha():
        spoken += ","  # the sentence goes on: without a mark the voice would end it
    return ids_of(unicodedata.normalize("NFD", spoken), voice)


def ids_of(phonemes: str, voice: PiperVoice) -> list[int]:
    """BOS and every symbol, each followed by padding, then EOS. Symbols the voice lacks are left out."""
    table, found, spoken = voice.phoneme_ids, [], False
    for symbol in symbols(phonemes, voice):
        ids = table.get(symbol) or (table.get(symbol.lower()) if voice.phoneme_type == "text" else None)
        if ids:
            found += [*ids, *table[PAD]]
            spoken = spoken or any(unicodedata.category(char)[0] in "LN" for char in symbol)
    return [*table[BOS], *table[PAD], *found, *table[EOS]] if spoken else []


def symbols(phonemes: str, voice: PiperVoice) -> list[str]:
    """The characters, where the voice joins some vowels to one symbol (`vowel_clusters`) those together."""
    if not voice.vowel_clusters:
        return list(phonemes)
    longest_first = sorted(voice.vowel_clusters, key=len, reverse=True)
    return re.findall("|".join([*map(re.escape, longest_first), "(?s:.)"]), phonemes)
