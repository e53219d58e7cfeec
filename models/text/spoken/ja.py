"""Japanese in spoken form: wetext's grammars, and before them rules for what those read wrong or leave out."""
from __future__ import annotations

import re
from functools import lru_cache

from models.text.spoken.codes import spell_addresses

_DIGITS = dict(zip("0123456789", "零一二三四五六七八九"))
_CALLED = dict(zip("0123456789", ("ゼロ", "一", "二", "三", "四", "五", "六", "七", "八", "九")))


@lru_cache(maxsize=1)
def _normalizer():
    from wetext import Normalizer

    return Normalizer(lang="ja")


def _phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match.group())
    return "の".join("".join(_CALLED[digit] for digit in group) for group in groups)


_RULES = [(re.compile(pattern), replace) for pattern, replace in [
    (r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)", lambda m: m.group().replace(",", "")),
    # telephone numbers and post codes, said digit by digit, の between groups
    (r"(?<![\d-])0\d{1,4}-\d{1,4}-\d{3,4}(?!\d)", _phone),
    (r"(?<![\d-])0[5789]0\d{8}(?!\d)", lambda m: "".join(_CALLED[digit] for digit in m.group())),
    (r"〒\s?(\d{3}-\d{4})", lambda m: "郵便番号" + _phone(m)),
    (r"(?<![\d/.])(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])(?=に|は|の|から|まで|\s?[(（])", r"\1月\2日"),
    (r"(?<=\d)\s?[~〜～]\s?(?=[\d¥$€])", "から"),
    (r"(?<=[時日月年人円度回個分秒歳])\s?[~〜～]\s?(?=\d)", "から"),
    (r"(\d[\d.]*)\s?(?:°C|℃)", r"\1度"),
    (r"(?<=\d)\s?㎡", "平方メートル"), (r"(?<=\d)\s?㎏", "キログラム"),
    (r"(?<!\d)\d{17,}(?!\d)", lambda m: "".join(_CALLED[digit] for digit in m.group())),
    (r"&", "アンド"),
]]


def spoken(text: str, language: str = "ja") -> str:
    text = spell_addresses(text, "ja")
    for pattern, replace in _RULES:
        text = pattern.sub(replace, text)
    return _tidy(_normalizer().normalize(text)) if re.search(r"[^\u3040-\u9fff\s、。！？]", text) else text


def _tidy(text: str) -> str:
    text = re.sub(r"\d", lambda m: _DIGITS[m.group()], text)
    text = text.replace("%", "パーセント").replace("=", "イコール").replace("@", "アット").replace("+", "プラス")
    return re.sub(r"\s+", " ", re.sub(r"(?<=[\u3040-\u9fff])\s+(?=[\u3040-\u9fff])", "", text)).strip()
