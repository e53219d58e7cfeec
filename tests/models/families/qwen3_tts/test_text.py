from __future__ import annotations

import pytest

from models.families.qwen3_tts import text
from models.text import Run, Segment


def segment(*runs: tuple[str, str]) -> Segment:
    whole = "".join(part for part, _ in runs)
    return Segment(0, whole, 0, len(whole), tuple(Run(*run) for run in runs))


@pytest.mark.parametrize(("runs", "written", "as_is"), [
    ((("It costs $20.", "en"),), "It costs twenty dollars.", "It costs $20."),
    ((("今天 ", "zh"), ("hello", "en"), ("，再见", "zh")), "今天 hello，再见", "今天 hello，再见"),
    ((("Hello 😀 you", "en"),), "Hello you", "Hello you"),
    ((("…!", "en"),), "", ""),
    ((("Say <b> and <tts_pad>.", "en"),), "Say b and tts pad.", "Say <b> and < tts_pad>."),
])
def test_what_is_read(runs, written, as_is):
    assert text.spoken(segment(*runs), True) == written
    assert text.spoken(segment(*runs), False) == as_is


def test_a_full_context_asks_for_shorter_segments():
    assert text.segment_limit(32_000) == text.LIMIT
    limit = text.segment_limit(400)
    assert 24 < limit < text.LIMIT
    assert limit + text.most_frames("x" * limit) <= 400
    assert text.segment_limit(100) < text.LEAST


def test_text_that_writing_out_made_long_is_split():
    sentence = "One hundred and twenty-three. "
    parts = text.pieces(sentence * 10, "en", 60)
    assert len(parts) > 4 and max(map(len, parts)) <= 60
    assert text.pieces(sentence, "en", 60) == [sentence]


def test_weight_is_never_below_bytes_of_a_letter():
    assert text.weight("abc") == 3 and text.weight("你好") == 6 and text.weight("é") == 2


def test_joining_follows_the_script():
    assert text.joined("你好。", "再见") == "你好。再见" and text.joined("Hi.", "You") == "Hi. You"
