"""The written is said as a careful newsreader says it."""
from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.text import normalise
from tests.models.text.tables import cases, folded

TABLES = [(language, case) for language in ("en", "zh", "ja") for case in cases(language)]


@pytest.mark.parametrize("language, case", TABLES, ids=[f"{language}-{case.written}" for language, case in TABLES])
def test_everyday_case(language, case):
    assert folded(normalise(case.written, language)) in {folded(reading) for reading in case.readings}


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_the_tables_are_whole(language):
    table = cases(language)
    assert len(table) == len({case.written for case in table}) == 80


@pytest.mark.parametrize("language, written, said", [
    ("es", "Tengo 3 gatos y 1.234,5 euros.", "Tengo tres gatos y mil doscientos treinta y cuatro coma cinco euros."),
    ("es", "El 50 % pagó 20 €.", "El cincuenta por ciento pagó veinte euros."),
    ("fr", "Il est 14h30, M. Dupont.", "Il est quatorze heures trente, monsieur Dupont."),
    ("fr", "J'ai 80 euros.", "J'ai quatre-vingts euros."),
    ("it", "Alle 10:05, a 60 km/h.", "Alle dieci e cinque, a sessanta chilometri all'ora."),
    ("pt", "Custa R$ 5,50.", "Custa cinco vírgula cinquenta reais."),
    ("hi", "₹500, 50%", "500 रुपये, 50 प्रतिशत"),
])
def test_other_languages(language, written, said):
    assert normalise(written, language) == said


@pytest.mark.parametrize("written, said", [
    ("It's 5'10\" tall, a 2:1 ratio.", "It's five foot ten tall, a two to one ratio."),
    ("AT&T's Q3 deal: $5bn.", "A T and T's Q three deal: five billion dollars."),
    ("See p. 45 and pp. 50-60.", "See page forty-five and pages fifty to sixty."),
    ("Dr. King lived at 123 Elm Dr. until 1965.", "Doctor King lived at one hundred twenty-three Elm Drive until nineteen sixty-five."),
    ("We had 1500 guests in 1500.", "We had one thousand five hundred guests in fifteen hundred."),
    ("COVID-19 and 24/7.", "COVID nineteen and twenty-four seven."),
    ("Henry I think so.", "Henry I think so."),
    ("Version 1.2.3 is out!!!", "Version one point two point three is out!"),
    ("10 a.m. The sun", "ten A M. The sun"),
])
def test_english_beyond_the_table(written, said):
    assert normalise(written, "en") == said


@pytest.mark.parametrize("written, said", [
    ("2月2日和12月2号", "二月二日和十二月二号"),
    ("营收$1.2亿，房价5万/平", "营收一点二亿美元，房价五万每平"),
    ("我的QQ是12345678", "我的QQ是一二三四五六七八"),
    ("时速350km/h", "时速三百五十公里"),
])
def test_chinese_beyond_the_table(written, said):
    assert normalise(written, "zh") == said


@pytest.mark.parametrize("language", ["en", "zh", "ja", "es", "fr", "it", "pt", "hi"])
@pytest.mark.parametrize("text", ["", "   ", "!!!", "😀😀", "\ud800", "\x00", "…"])
def test_nothing_to_say(language, text):
    assert not any(char.isalnum() for char in normalise(text, language))


def test_emoji_and_unknown_characters_are_left_out():
    assert normalise("Good 👍🏽 day 👨‍👩‍👧 ☃", "en") == "Good day"
    assert normalise("ﬁne “ｗｏｒｄｓ”", "en").startswith("fine")


def test_line_breaks_become_pauses():
    assert normalise("Shopping list\nMilk\nEggs", "en") == "Shopping list. Milk. Eggs"
    assert normalise("a wrapped line,\nthat goes on\nand on", "en") == "a wrapped line, that goes on and on"
    assert normalise("标题\n正文", "zh") == "标题。正文"


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_normalised_text_stays(language):
    for case in cases(language):
        once = normalise(case.written, language)
        assert folded(normalise(once, language)) == folded(once)


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=60), language=st.sampled_from(["en", "zh", "ja", "es", "fr", "it", "pt", "hi"]))
def test_any_text_normalises(text, language):
    said = normalise(text, language)
    if language != "hi":
        assert not re.search(r"[0-9]", said)
