"""Chinese in spoken form: wetext's grammars, and before them rules for what those read wrong or leave out."""
from __future__ import annotations

import re
from functools import lru_cache

from models.text.spoken.codes import spell_addresses

_DIGITS = dict(zip("0123456789", "零一二三四五六七八九"))
_CALLED = str.maketrans("0123456789", "零幺二三四五六七八九")  # telephone style: yāo for one
_MONEY = {"$": "美元", "€": "欧元", "£": "英镑"}
_UNITS = {"㎡": "平方米", "㎥": "立方米", "㎏": "千克", "℃": "°C", "m²": "平方米", "m³": "立方米", "km²": "平方千米"}


@lru_cache(maxsize=1)
def _normalizer():
    from wetext import Normalizer

    return Normalizer(lang="zh")


def _one_by_one(digits: str) -> str:
    return "".join(_DIGITS.get(digit, "") for digit in digits)


def _called(digits: str) -> str:
    return "".join(char for char in digits if char.isdigit()).translate(_CALLED)


def _counted(digits: str) -> str:
    import cn2an

    return cn2an.an2cn(digits, "low")


_RULES = [(re.compile(pattern), replace) for pattern, replace in [
    # thousands separators
    (r"(?<![\d.,])\d{1,3}(?:[,，]\d{3})+(?![\d])", lambda m: re.sub(r"[,，]", "", m.group())),
    # phone numbers, said digit by digit
    (r"(?<![\d.])(?:\+?86[- ]?)?1[3-9]\d(?:[- ]?\d{4}){2}(?!\d)", lambda m: _called(m.group())),
    (r"(?<![\d.])0\d{2,3}[- ]\d{7,8}(?!\d)", lambda m: _called(m.group())),
    (r"(?<![\d.])(?:400|800)[- ]?\d{3,4}[- ]?\d{3,4}(?!\d)", lambda m: _called(m.group())),
    (r"(?<=[打拨])(?:110|119|120|122|12306|12345|12315|911|114|10086|10010|10000)(?!\d)", lambda m: _called(m.group())),
    # ranges of percentages and numbers
    (r"(\d[\d.]*)%\s?[-~～—–至到]{1,2}\s?(\d[\d.]*)%", r"\1%到\2%"),
    (r"(\d[\d.]*)\s?[-~～—–]{1,2}\s?(\d[\d.]*)%", r"\1%到\2%"),
    # numbers that name something: rooms, routes, trains, flights, classes
    (r"(?<=房间号是)\d{2,}|(?<=号码是)\d{2,}|(?<=编号)\d{2,}|(?<=邮编)\d{6}", lambda m: _one_by_one(m.group())),
    (r"\d{3,4}(?=路公交|路车|路电车|室|号房|航班|次列车|次航班|国道|高速)", lambda m: _one_by_one(m.group())),
    (r"(?<![A-Za-z])([GDCZTKYSA-Z]{1,2})(\d{3,4})(?=次|航班|号)", lambda m: m.group(1) + _one_by_one(m.group(2))),
    (r"(?<=第)2(?=[^\d.．点])", "二"),
    (r"(血压[为是约]?\s?)(\d{2,3})/(\d{2,3})", lambda m: m.group(1) + "到".join(map(_counted, m.groups()[1:]))),
    (r"(?<=约)(\d+)/(\d+)", r" \1/\2"),
    (r"(?<=\d)\s*(㎡|㎥|㎏|℃|km²|m²|m³)", lambda m: _UNITS[m.group(1)]),
    (r"(?<![\dA-Za-z])(\d{4})(?=级|届(?!大会))", lambda m: _one_by_one(m.group(1))),
    (r"(?<=月)2(?=[日号])", "二"),
    (r"([$€£])\s?(\d[\d.]*)\s?([万亿]+)元?", lambda m: m.group(2) + m.group(3) + _MONEY[m.group(1)]),
    (r"时速(\d[\d.]*)\s?km/h", r"时速\1公里"),
    (r"(?<=[\d元万块角次])/(?=[\u4e00-\u9fff])", "每"),
    (r"(?<![\d.])\d{8,}(?![\d.%]|\s?[元人个台次万亿块美日吨米件家户])", lambda m: _one_by_one(m.group())),
    (r"&", "和"),
]]


def spoken(text: str, language: str = "zh") -> str:
    text = spell_addresses(text, "zh")
    for pattern, replace in _RULES:
        text = pattern.sub(replace, text)
    return _tidy(_normalizer().normalize(text)) if re.search(r"[^\u3040-\u9fff\s，。！？、；：]", text) else text


def _tidy(text: str) -> str:
    text = re.sub(r"\d", lambda m: _DIGITS[m.group()], text)  # whatever number the grammars left
    text = text.replace("%", "百分号").replace("=", "等于").replace("@", "艾特").replace("×", "乘").replace("÷", "除以")
    return re.sub(r"\s+", " ", re.sub(r"(?<=[\u3040-\u9fff])\s+(?=[\u3040-\u9fff])", "", text)).strip()
