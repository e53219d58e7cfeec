"""The served fleet heard back by Whisper: what was typed is what is said."""
from __future__ import annotations

import numpy as np
import pytest

from tests.listening import character_error_rate, transcribe, word_error_rate

ENGLISH = [
    "The library opens at nine in the morning and closes late at night.",
    "She packed a warm coat, two books and a small bottle of water.",
    "Please turn left after the bridge and follow the river to the village.",
    "My brother has been learning to play the piano since last summer.",
    "If it rains tomorrow, we will stay at home and watch an old film.",
]
CHINESE = [
    "今天天气很好，我们一起去公园散步吧。",
    "我们明年春天打算去南方旅行。",
    "妈妈在厨房里做晚饭，爸爸在客厅看电视。",
    "请把窗户打开，房间里有一点热。",
    "我的朋友在北京大学学习中国历史。",
]
JAPANESE = [
    "今日はとても天気がいいですね。",
    "駅まで歩いて十分ぐらいかかります。",
    "週末に友達と映画を見に行きました。",
    "この店のラーメンはとても美味しいです。",
    "明日の朝、電話をかけてください。",
]


def heard(served, text, language, **wish) -> str:
    with served.post("api/stream", {"text": text, "seed": 1, **wish}) as answer:
        samples = np.frombuffer(answer.read(), "<i2") / 32768
        return transcribe(samples, int(answer.headers["X-Sample-Rate"]), language)


def mean_error(served, sentences, language, rate, **wish) -> float:
    """Errors over all sentences, weighted by their length as rates are."""
    pairs = [(text, heard(served, text, language, **wish)) for text in sentences]
    weights = [len(text.split()) if language == "en" else len(text) for text, _ in pairs]
    errors = [rate(text, said) for text, said in pairs]
    print(*zip(pairs, errors, strict=True), sep="\n")
    return float(np.average(errors, weights=weights))


@pytest.mark.parametrize(("model", "voice"), [("kokoro", ""), ("kokoro", "bm_george"), ("joe", "")])
def test_english(served, model, voice):
    assert mean_error(served, ENGLISH, "en", word_error_rate, model=model, voice=voice) <= 0.05


def test_chinese(served):
    assert mean_error(served, CHINESE, "zh", character_error_rate, model="kokoro") <= 0.05


def test_japanese(served):
    assert mean_error(served, JAPANESE, "ja", character_error_rate, model="kokoro") <= 0.10


@pytest.mark.parametrize(("text", "words"), [
    ("她在 Facebook 和 Google 都工作过。", ["在", "facebook", "和", "google", "都工作过"]),
    ("他说 good morning everyone，然后就开始上课了。", ["说", "good morning everyone", "然后就开始上课了"]),
])
def test_chinese_and_english_in_one_sentence(served, text, words):
    said = heard(served, text, "zh", model="kokoro").lower()
    assert all(word in said for word in words), said


def test_numbers_are_read_not_dropped(served):
    said = heard(served, "The ticket costs $12.50, and the show starts at 7:30 pm on March 3rd.", "en", model="kokoro").lower()
    assert "12.50" in said.replace("$", "") or "twelve" in said
    assert "7.30" in said.replace(":", ".") or "seven thirty" in said
    assert "3" in said or "third" in said


def test_a_long_text_is_whole(served):
    """Each sentence of a longer text is heard, in order: nothing is skipped, sped up or repeated at the joins."""
    text = " ".join(ENGLISH)
    assert word_error_rate(text, heard(served, text, "en", model="kokoro")) <= 0.05


@pytest.mark.parametrize("word", ["Yes.", "Hello", "Good morning"])
def test_one_and_two_word_inputs_are_whole(served, word):
    assert word_error_rate(word, heard(served, word, "en", model="kokoro")) == 0
