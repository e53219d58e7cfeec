"""Texts are cut where a speaker would pause, never inside a word, and nothing is lost."""
from __future__ import annotations

import re

import pytest
import rjieba
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import SpeechError
from models.text import plan_segments
from models.text.scripts import kind, kinds

ALL = ("en", "zh", "ja", "es", "fr", "hi", "it", "pt")


def plan(text, language="auto", supported=ALL, first_limit=60, limit=200):
    return plan_segments(text, language, supported, first_limit, limit)


def texts(text, **options):
    return [segment.text for segment in plan(text, **options)[1]]


def weight(text):
    return sum(3 if kind(char) in "HKN" else 1 for char in text)


def check(text, segments):
    """Order, indices, runs, and that all letters and digits are in some segment."""
    end, found = 0, kinds(text)
    for index, segment in enumerate(segments):
        assert segment.index == index
        assert segment.start >= end and segment.end > segment.start
        assert segment.text == text[segment.start:segment.end]
        assert "".join(run.text for run in segment.runs) == segment.text
        assert segment.ends in ("paragraph", "sentence", "clause", "word")
        assert not set(found[end:segment.start]) & set("LNHKD")
        assert set(found[segment.start:segment.end]) & set("LNHKD")
        end = segment.end
    assert not set(found[end:]) & set("LNHKD")


@pytest.mark.parametrize("text", ["", " \n\t ", "\u3000"])
def test_empty(text):
    with pytest.raises(SpeechError) as caught:
        plan(text)
    assert caught.value.code == "text_empty" and caught.value.field == "text"


@pytest.mark.parametrize("text, english, chinese", [
    ("?!...", "punctuation", "标点符号"),
    ("😀🎉", "emoji", "表情符号"),
    ("😀!", "emoji and punctuation", "表情符号和标点符号"),
    ("$ € +", "symbols", "符号"),
    ("Привет, мир", "Cyrillic", "西里尔字母"),
    ("สวัสดี", "no voice here can read", "无法朗读"),
])
def test_nothing_to_speak_is_said_clearly(text, english, chinese):
    with pytest.raises(SpeechError) as caught:
        plan(text)
    assert caught.value.code == "text_unspeakable"
    assert english in caught.value.sentence("en") and chinese in caught.value.sentence("zh")


def test_chinese_for_an_english_only_model():
    with pytest.raises(SpeechError) as caught:
        plan("你好", supported=("en",))
    assert caught.value.code == "text_unspeakable" and "Chinese characters" in caught.value.sentence("en")


def test_language_unsupported():
    with pytest.raises(SpeechError) as caught:
        plan("Hallo", language="de", supported=("en", "zh"))
    assert caught.value.code == "language_unsupported" and caught.value.field == "language"
    assert "en, zh" in caught.value.sentence("en")


@pytest.mark.parametrize("text", [
    "Dr. Smith met Mrs. Jones at 5 p.m. on Jan. 3rd in St. Paul.",
    "It costs $3.14, i.e. about 3.5 percent, e.g. today at example.com or a.b@c.org.",
    "J. R. R. Tolkien wrote for the U.S. Army, vol. 3, no. 5.",
    "Wait... what? he said.",
])
def test_abbreviations_and_numbers_are_not_sentence_ends(text):
    assert texts(text, first_limit=12, limit=12)  # even when pressed
    for piece in texts(text, first_limit=500, limit=500):
        assert piece == text


def test_sentences_are_found():
    assert texts("He left at 5 p.m. The shop was closed. Is it? Yes!", first_limit=24, limit=24) == [
        "He left at 5 p.m.", "The shop was closed.", "Is it? Yes!"]
    assert texts("他走了。真的吗？是的！", first_limit=12, limit=12) == ["他走了。", "真的吗？", "是的！"]


def test_the_first_segment_is_short_and_cut_where_a_speaker_pauses():
    text = ("When the last of the guests had finally left the house, she sat down by the window with a cup of tea, "
            "opened the letter, and read it twice before she understood.")
    _, segments = plan(text)
    assert segments[0].text == "When the last of the guests had finally left the house,"
    assert segments[0].ends == "clause" and segments[-1].ends == "sentence"
    check(text, segments)


def test_chinese_pauses_at_a_comma_rather_than_inside_a_list():
    _, segments = plan("人工智能（AI）正在改变世界，尤其是在医疗、教育和交通等领域，它的影响越来越大。")
    assert segments[0].text == "人工智能（AI）正在改变世界，" and segments[0].ends == "clause"


def test_no_scraps():
    text = "Well, the quick brown fox jumped over the lazy dog and ran away into the deep dark forest, alone."
    for segment in plan(text, first_limit=40, limit=60)[1]:
        assert len(segment.text.split()) > 2


def test_short_sentences_are_spoken_together():
    assert texts("Hi. How are you? I am fine. Thanks.") == ["Hi. How are you? I am fine. Thanks."]


def test_paragraphs_keep_their_pause():
    _, segments = plan("First paragraph here.\n\nSecond one\nwraps here.\n\n***\n\nThird.")
    assert [segment.ends for segment in segments] == ["paragraph", "paragraph", "sentence"]


CHINESE = "国际联合安全理事会昨天通过了新的决议案但是实际效果专家之间还有很大的分歧需要进一步讨论才能得出结论" * 6


def test_chinese_without_punctuation_is_split_between_words():
    _, segments = plan(CHINESE)
    check(CHINESE, segments)
    assert len(segments) > 5
    borders = {end for _, _, end in rjieba.tokenize(CHINESE)}
    assert all(segment.end in borders for segment in segments)
    assert all(weight(segment.text) <= 200 for segment in segments)


def test_japanese_without_punctuation_is_split_between_phrases():
    text = "昨日の会合で新しい決議案を全会一致で採択しましたが実際の効果については専門家の間でも意見が分かれています" * 3
    _, segments = plan(text)
    check(text, segments)
    assert len(segments) > 2 and all(weight(segment.text) <= 200 for segment in segments)
    for segment in segments[:-1]:  # a phrase ends in a particle or a verb's ending, not inside 専門家 or 決議案
        assert kind(segment.text[-1]) == "K"


def test_long_english_is_split_between_words():
    text = "word " * 300 + "end"
    _, segments = plan(text)
    check(text, segments)
    assert all(set(segment.text.split()) <= {"word", "end"} for segment in segments)
    assert all(len(segment.text) <= 200 for segment in segments)


def test_a_string_without_any_border_is_still_cut():
    _, segments = plan("x" * 1000)
    assert all(len(segment.text) <= 200 for segment in segments) and sum(len(s.text) for s in segments) == 1000


WORDS = st.sampled_from(
    "the cat sat 3.14 1,000 Dr. Smith e.g. example.com/a,b a.b@c.org U.S. (really) \"quoted\" well-known it's 5 kg $3 "
    "12:30 end. stop! why? and, but; because: — naïve".split())


@settings(max_examples=300, deadline=None)
@given(words=st.lists(WORDS, min_size=1, max_size=120), first=st.integers(20, 80), limit=st.integers(60, 300))
def test_never_inside_a_word(words, first, limit):
    text = " ".join(words)
    if not any(char.isalnum() for char in text):
        return
    _, segments = plan(text, supported=("en",), first_limit=first, limit=limit)
    check(text, segments)
    for segment in segments:
        assert segment.start == 0 or text[segment.start - 1].isspace()
        assert segment.end == len(text) or text[segment.end].isspace()
        assert weight(segment.text) <= limit + 24  # the longest glued words
    for before, after in zip(segments, segments[1:]):
        assert not re.search(r"(?:Dr\.|e\.g\.|\$)$", before.text) and not (before.text.endswith(" 5") and after.text[:2] == "kg")


@settings(max_examples=500, deadline=None)
@given(text=st.text(max_size=200), language=st.sampled_from(["auto", *ALL]), limit=st.integers(1, 300))
def test_any_text_is_planned_or_refused(text, language, limit):
    try:
        main, segments = plan(text, language=language, first_limit=limit // 2, limit=limit)
    except SpeechError as error:
        assert error.code in ("text_empty", "text_unspeakable")
        assert error.sentence("en") and error.sentence("zh")
        return
    assert main in ALL and segments
    check(text, segments)


MIXED = st.text(alphabet=st.sampled_from(list("aé 1,.!?。，我们公園あカー\n\nनम😀-—$%'\"()（）「」")), max_size=300)


@settings(max_examples=500, deadline=None)
@given(text=MIXED, limit=st.integers(20, 200))
def test_mixed_scripts_are_planned_or_refused(text, limit):
    try:
        _, segments = plan(text, first_limit=limit, limit=limit)
    except SpeechError:
        assert not set(kinds(text)) & set("LNHKD")
        return
    check(text, segments)


@pytest.mark.parametrize("text", [
    "1" * 20000, "a." * 10000, "(" * 20000 + "a", " " * 20000 + "a", "1-" * 10000, "www." * 5000, "a@" * 10000, "- " * 9999 + "a",
    "\n" * 20000 + "a", "'" * 20000 + "a", "アー" * 10000, "。" * 20000 + "我", "a" + "\u0301" * 20000, "Chapter " + "X" * 19000,
], ids=lambda text: text[:6] + "..." if text.isprintable() else repr(text[:4]))
def test_hostile_texts_are_planned(text):
    _, segments = plan(text)
    check(text, segments)
