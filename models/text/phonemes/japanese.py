"""Japanese to Kokoro v1.0's phonemes: readings by Open JTalk, kana to the alphabet of misaki's Japanese."""
from __future__ import annotations

import re
import threading
from functools import lru_cache

_lock = threading.Lock()
_VOWELS = dict(zip("アイウエオ", "aiɯeo"))
_ROWS = {  # consonant before a, i, u, e, o; None where the row has no such kana
    "カキクケコ": ("k", "kʲ", "k", "k", "k"), "ガギグゲゴ": ("ɡ", "ɡʲ", "ɡ", "ɡ", "ɡ"),
    "サシスセソ": ("s", "ɕ", "s", "s", "s"), "ザジズゼゾ": ("ʣ", "ʥ", "z", "ʣ", "ʣ"),
    "タチツテト": ("t", "ʨ", "ʦ", "t", "t"), "ダヂヅデド": ("d", "ʥ", "z", "d", "d"),
    "ナニヌネノ": ("n", "ɲ", "n", "n", "n"), "ハヒフヘホ": ("h", "ç", "ɸ", "h", "h"),
    "バビブベボ": ("b", "bʲ", "b", "b", "b"), "パピプペポ": ("p", "pʲ", "p", "p", "p"),
    "マミムメモ": ("m", "mʲ", "m", "m", "m"), "ラリルレロ": ("ɾ", "ɾʲ", "ɾ", "ɾ", "ɾ"),
}
_CENTRAL_U = frozenset("スズツヅ")  # their u is written ɨ, as is the u of palatal syllables (シュ, キュ)
_MARKS = {"、": ",", "。": ".", "？": "?", "！": "!", "：": ":", "；": ";", "，": ",", "．": ".", "（": "(", "）": ")", "〜": "—",
          "～": "—", "—": "—", "…": "…", "「": "“", "」": "”", "『": "“", "』": "”", "《": "“", "》": "”", "【": "“", "】": "”"}


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    """Kana (one, or one with a small kana) -> phonemes."""
    table = dict(_VOWELS)
    table.update({"ヲ": "o", "ヰ": "i", "ヱ": "e", "ワ": "βa", "ヴ": "vɯ", "ヤ": "ja", "ユ": "jɯ", "ヨ": "jo"})
    for row, consonants in _ROWS.items():
        for kana, consonant, vowel in zip(row, consonants, "aiɯeo"):
            table[kana] = consonant + ("ɨ" if kana in _CENTRAL_U else vowel)
    small = {"ャ": "a", "ュ": "ɨ", "ョ": "o", "ェ": "e"}
    for kana in "キギシジチヂニヒビピミリ":
        for mark, vowel in small.items():
            table[kana + mark] = table[kana][:-1] + vowel
    for kana, consonant in {"ク": "kᵝ", "グ": "ɡᵝ", "ツ": "ʦ", "フ": "ɸ", "ヴ": "v", "ウ": "β", "ス": "s", "ズ": "z"}.items():
        for mark, vowel in zip("ァィェォ", "aieo"):
            soft = "ʲ" if mark == "ィ" and kana in "ツフヴ" else ""
            table[kana + mark] = consonant + soft + vowel
    table.update({"イェ": "je", "ティ": "tʲi", "ディ": "dʲi", "テュ": "tʲɨ", "デュ": "dʲɨ", "トゥ": "tɯ", "ドゥ": "dɯ",
                  "フュ": "ɸʲɨ", "フョ": "ɸʲo", "ヴュ": "bʲɨ", "ヴョ": "bʲo", "クヮ": "kᵝa", "グヮ": "ɡᵝa"})
    table.update({mark: sound for mark, sound in zip("ァィゥェォャュョヮ", ("a", "i", "ɯ", "e", "o", "ja", "jɯ", "jo", "βa"))})
    return table


def kana_phonemes(kana: str) -> str:
    """Phonemes of a reading in katakana."""
    table, out, at = _table(), [], 0
    while at < len(kana):
        width = 2 if kana[at:at + 2] in table else 1
        out.append(table.get(kana[at:at + width]) or {"ー": "ː", "ッ": "ʔ", "ン": "ɴ"}.get(kana[at], ""))
        at += width
    joined = "".join(out)
    for following, nasal in (("[mpb]", "m"), ("[kɡ]", "ŋ"), ("ɲ|ʨ|ʥ", "ɲ"), ("[ntdɾz]", "n")):  # ン before a consonant
        joined = re.sub(f"ɴ(?={following})", nasal, joined)
    return joined


def _frontend(text: str) -> list[dict]:
    import pyopenjtalk

    with _lock:  # Sudachi's second opinion on a few readings would cost 80 MB and 0.2 s in some later request
        return pyopenjtalk.run_frontend(text, use_sudachi_kanji_yomi=False)


def phonemes(text: str) -> str:
    """text: normalised Japanese (numbers in kanji or kana)."""
    out = []
    for word in _frontend(text):
        reading = re.sub(r"[^ァ-ヺー]", "", word["pron"])
        if word["pos"] == "記号" and (word["string"] in _MARKS or not reading):
            out.append(_MARKS.get(word["string"], " ") + " ")
        elif out and reading.startswith("ー"):
            out[-1] = out[-1].rstrip() + kana_phonemes(reading) + " "
        else:
            out.append(kana_phonemes(reading) + " ")
    joined = re.sub(r"(?<=[^\s!\",.:;?»—…”]) (?=ʔ)|(?<=ʔ) ", "", "".join(out))
    return re.sub(r"([“(]) ", r" \1", joined)
