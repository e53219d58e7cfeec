from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.voices.transcribe import Heard, Word
from models.voices.transcript import part_between, spoken_part, token_error, tokens

TEXT = "“Well,” she said, “it’s late. Come in!” The door was open, and nobody answered. We waited until nine o'clock."


def heard(text: str, seconds_a_word: float = 0.5) -> Heard:
    words = [Word(f" {word}", index * seconds_a_word, (index + 1) * seconds_a_word) for index, word in enumerate(text.split())]
    return Heard(text, "en", words)


def test_tokens_are_words_without_case_and_punctuation():
    assert [token.plain for token in tokens("It’s 5 o'clock, Ｊｏｅ!")] == ["its", "5", "oclock", "joe"]
    assert [token.plain for token in tokens("我有3只cats。")] == ["我", "有", "3", "只", "cats"]
    assert [token.plain for token in tokens("東京タワー")] == list("東京タワー")
    assert tokens("… — !") == []


@pytest.mark.parametrize(("transcript", "said", "error"), [
    ("Come in, please.", "come in please", 0), ("Come in", "come on", 0.5), ("one two three four", "one two four", 0.25),
    ("one two", "one two three", 0.5), ("nothing alike", "", 1), ("你好世界", "你好，世间！", 0.25), ("", "", 0),
])
def test_error(transcript, said, error):
    assert token_error(transcript, said) == error


@pytest.mark.parametrize(("said", "part"), [
    ("well she said its late come in", "“Well,” she said, “it’s late. Come in!”"),
    ("the door was open and nobody answered", "The door was open, and nobody answered."),
    ("the door was hoping and nobody answer", "The door was open, and nobody answered."),
    ("we waited until nine oclock", "We waited until nine o'clock."),
    ("rain falls on distant hills tonight", ""), ("", ""),
])
def test_a_cut_clip_keeps_the_words_it_says(said, part):
    assert spoken_part(TEXT, heard(said)) == part


def test_a_cut_clip_in_chinese():
    assert spoken_part("今天天气很好。我们去公园散步吧！明天见。", heard("我们去公园散布吧")) == "我们去公园散步吧！"


def test_words_between_two_times():
    said = heard("well she said its late come in the door was open and nobody answered we waited until nine oclock")
    assert part_between(TEXT, said, 3.5, 7.0) == "The door was open, and nobody answered."
    assert part_between(TEXT, said, 0, 100) == TEXT
    assert part_between(TEXT, said, 50, 60) == ""


@given(st.lists(st.sampled_from(["red", "green", "blue", "tall", "small"]), min_size=1, max_size=30), st.data())
def test_any_stretch_of_distinct_words_is_found_again(words, data):
    numbered = [f"{word}{index}" for index, word in enumerate(words)]
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    assert spoken_part(", ".join(numbered) + ".", heard(" ".join(numbered[start:end]))).rstrip(",.") == ", ".join(numbered[start:end])
