"""Web and e-mail addresses in words."""
from __future__ import annotations

import re

URL = re.compile(
    r"(?:https?://|www\.)[^\s，。！？、；：）】」』》\u3041-\u30ff\u4e00-\u9fff]+"
    r"|(?<![\w.@-])(?:[A-Za-z0-9-]+\.)+(?:com|org|net|edu|gov|io|cn|jp|uk|ai|dev|co|info|app|eu|de|fr|es|it|br|in)"
    r"(?:/[\w./?=&%#~-]*)?(?![\w@])")
EMAIL = re.compile(r"(?<![\w.])[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_NAMES = {
    "en": {".": "dot", "/": "slash", "@": "at", "-": "dash", "_": "underscore", ":": "colon", "?": "question mark",
           "=": "equals", "&": "and", "%": "percent", "#": "hash", "+": "plus", "~": "tilde"},
    "zh": {".": "点", "/": "斜杠", "@": "艾特", "-": "杠", "_": "下划线", ":": "冒号", "?": "问号", "=": "等于", "&": "和",
           "%": "百分号", "#": "井号", "+": "加", "~": "波浪号"},
    "ja": {".": "ドット", "/": "スラッシュ", "@": "アット", "-": "ハイフン", "_": "アンダーバー", ":": "コロン", "?": "クエスチョン",
           "=": "イコール", "&": "アンド", "%": "パーセント", "#": "シャープ", "+": "プラス", "~": "チルダ"},
    "es": {".": "punto", "/": "barra", "@": "arroba", "-": "guion", "_": "guion bajo"},
    "fr": {".": "point", "/": "barre oblique", "@": "arobase", "-": "tiret", "_": "tiret bas"},
    "it": {".": "punto", "/": "barra", "@": "chiocciola", "-": "trattino", "_": "trattino basso"},
    "pt": {".": "ponto", "/": "barra", "@": "arroba", "-": "hífen", "_": "sublinhado"},
    "hi": {".": "डॉट", "/": "स्लैश", "@": "ऐट", "-": "डैश", "_": "अंडरस्कोर"},
}
_SPELLED = frozenset("www http https html php io ai cn jp uk fr de es ftp api eu css js pdf id".split())


def spell_addresses(text: str, language: str) -> str:
    """Web and e-mail addresses as they are dictated; the scheme is left out, the rest of the text stays."""
    if "@" in text:
        text = EMAIL.sub(lambda m: _spell(m.group(), language), text)
    if "." in text:
        text = URL.sub(lambda m: _spell(m.group(), language), text)
    return text


def _spell(address: str, language: str) -> str:
    tail = re.search(r"[.,;:!?)\]'\"]+$", address)
    address, tail = (address[:tail.start()], tail.group()) if tail else (address, "")
    address = re.sub(r"^https?://", "", address).rstrip("/")
    names = _NAMES.get(language, _NAMES["en"])
    words = []
    for part in re.findall(r"[A-Za-z]+|\d|[^A-Za-z\d]", address):
        if part.lower() in _SPELLED or (part.isalpha() and len(part) == 1):
            words.append(" ".join(part.upper()))
        else:
            words.append(names.get(part, part if part.isalnum() else ""))
    return " " + " ".join(filter(None, words)) + tail + " "
