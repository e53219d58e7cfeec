"""Which language each stretch of a text is in."""
from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from models.text.scripts import kinds, letters_of

# The commonest function words: enough to tell everyday sentences apart without loading anything.
_FUNCTION_WORDS = {
    "en": "the of and to in is was for on that with as it at by this are from be have not you i he she we they his her"
          " my your what when how who will would can do does did hello yes please thank there here if so but or an",
    "es": "el la los las de que y en un una por con para es no se lo su al del más pero como está son muy hola qué"
          " gracias yo tú ella nosotros cuando donde porque también hay me mi este esta",
    "fr": "le la les de des du et en un une est que qui dans pour pas sur au aux ce cette il elle nous vous je tu ne se"
          " mais avec sont bonjour merci où très comme plus c'est j'ai l'on on son sa ses leur",
    "it": "il lo la gli le di che e in un una per con non è si del della dei al da sono ma come più anche ciao grazie"
          " io tu lui lei noi questo questa perché dove quando molto nel nella ho hai",
    "pt": "o a os as de que e em um uma por com para é não se do da dos das no na ao mais mas como está são muito olá"
          " obrigado obrigada eu você ele ela nós isso este esta quando onde porque também foi",
}
_WORDS = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SURE_MARGIN = 8.0  # nats between the best and English before a text counts as not English
_SHORT_MARGIN = 3.0  # the same for a short English sentence in a text of another language


_loading = threading.Lock()


@lru_cache(maxsize=1)
def _loaded():
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _scores(text: str, candidates: tuple[str, ...]) -> dict[str, float]:
    """Log probability of each candidate, in nats; those the library doesn't know are left out.

    One identifier of all its languages serves every set of candidates (a class's score doesn't depend on the others):
    reading it takes half a second, which no request may pay because other models have come.
    """
    with _loading:
        identifier = _loaded()
    return {code: score for code, score in identifier.rank(text) if code in candidates}


def latin_language(text: str, candidates: tuple[str, ...], default: str) -> str:
    """The language of a Latin-script text among `candidates`; `default` when short or doubtful."""
    if len(candidates) < 2:
        return candidates[0] if candidates else default
    words = {word.lower().replace("’", "'") for word in _WORD.findall(text[:2000])}
    votes = Counter({code: len(_WORDS[code].intersection(words)) for code in candidates if code in _WORDS})
    ranked = votes.most_common(2)
    if ranked and ranked[0][1] >= 2 and (len(ranked) == 1 or ranked[0][1] >= 2 * ranked[1][1]):
        return ranked[0][0]
    if default != "en" and "en" in candidates and 1 < len(words) < 4:
        scores = _scores(text, candidates)
        return "en" if scores["en"] > scores.get(default, -1e9) + _SHORT_MARGIN else default
    if len(words) < 4 or (not any(votes.values()) and text.isascii() and len(words) < 8):
        return default
    scores = _scores(text[:2000], candidates)
    best = max(scores, key=scores.get, default=default)
    return best if best == default or scores[best] - scores.get(default, -1e9) > _SURE_MARGIN else default


def warm_languages(languages: Iterable[str]) -> None:
    """Load what telling these languages apart takes. Safe from any thread."""
    languages = set(languages)
    if len(latin_candidates(languages)) > 1:
        _scores("warm", ())
    if languages >= {"zh", "ja"}:
        for encoding in ("cp932", "shift_jis", "gb2312", "big5"):
            _fits("", encoding)


def latin_candidates(supported: Iterable[str]) -> tuple[str, ...]:
    return tuple(code for code in supported if "L" in letters_of(code))


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _only_japanese(han: str) -> bool:
    """Whether a text of Chinese characters alone is written with Japanese forms (駅, 円, 気 ...)."""
    return _fits(han, "shift_jis") and any(not _fits(char, "gb2312") and not _fits(char, "big5") for char in set(han))


class Chooser:
    """Decides the language of each kind of letter, sentence by sentence.

    text: the whole text. language: "auto" or the user's wish. supported: what the model speaks.
    """

    def __init__(self, text: str, language: str, supported: tuple[str, ...]):
        self.supported, self.wish = supported, language
        self.latin = latin_candidates(supported)
        found = kinds(text)
        self._text_kana = found.count("K") > 0.25 * (found.count("K") + found.count("H") + 1)
        self.default_latin = "en" if "en" in self.latin else (self.latin[0] if self.latin else "")
        self._several = len(self.latin) > 1 and language not in self.latin
        if self._several and "L" in found:
            letters = "".join(char if code in "Lwm" or char in "'’" else " " for char, code in zip(text[:4000], found))
            self._text_latin = latin_language(letters, self.latin, self.default_latin)
        else:
            self._text_latin = self.default_latin

    def sentence(self, text: str, found: str) -> dict[str, str]:
        """Kind of letter -> language for one sentence; kinds nobody here reads are left out."""
        choice = {}
        for code in sorted(set(found) - set("Nepsmw")):
            readers = [name for name in self.supported if code in letters_of(name)]
            if not readers:
                continue
            if self.wish in readers:
                choice[code] = self.wish
            elif code == "H" and len(readers) > 1:
                choice[code] = self._han(text, found)
            elif code == "L" and self._several:
                choice[code] = self._latin(text, found)
            else:
                choice[code] = readers[0]
        return choice

    def _han(self, text: str, found: str) -> str:
        han = "".join(char for char, code in zip(text, found) if code == "H")
        if not _fits(han, "cp932"):  # 们, 这, 说: no Japanese text has them
            return "zh"
        kana = found.count("K")
        if kana > 1 or self._text_kana or (kana and (len(han) < 3 or not _fits(han, "gb2312"))):
            return "ja"
        return "ja" if _only_japanese(han) else "zh"

    def _latin(self, text: str, found: str) -> str:
        if "H" in found or "K" in found:  # foreign words inside Chinese or Japanese are nearly always English
            default = self.default_latin
        else:
            default = self._text_latin
        letters = "".join(char if code in "Lwm" or char in "'’" else " " for char, code in zip(text, found))
        if len(letters.split()) < 4 and default == self.default_latin:
            return default
        return latin_language(letters, self.latin, default)
