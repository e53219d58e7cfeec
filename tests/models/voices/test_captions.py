from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.voices.captions import LONGEST, MOST, captions, to_srt, to_vtt
from models.voices.transcribe import Word

SAID = [Word(" One", 0.2, 0.5), Word(" two.", 0.5, 0.9), Word(" Three", 1.0, 1.4), Word(" <four>", 2.9, 3661.5)]


def test_a_caption_ends_with_a_sentence_and_at_a_pause():
    assert [line.text for line in captions(SAID)] == ["One two.", "Three", "<four>"]
    assert captions([]) == []


def test_both_forms_are_written_as_players_read_them():
    assert to_srt(captions(SAID)).startswith("1\n00:00:00,200 --> 00:00:00,900\nOne two.\n\n2\n")
    assert to_vtt(captions(SAID)).endswith("00:00:02.900 --> 01:01:01.500\n&lt;four&gt;\n\n")
    assert to_vtt([]) == "WEBVTT\n\n" and to_srt([]) == ""


@given(st.lists(st.tuples(st.text("ab.。 ", min_size=1, max_size=12), st.floats(0, 3), st.floats(0, 2)), max_size=60))
def test_no_word_is_lost_and_no_caption_is_too_long(parts):
    words, now = [], 0.0
    for text, pause, length in parts:
        words.append(Word(text, now + pause, now + pause + length))
        now += pause + length
    lines = captions(words)
    assert "".join(line.text for line in lines).replace(" ", "") == "".join(word.text for word in words).replace(" ", "")
    for line in lines:
        assert len(line.text) <= MOST and line.end - line.start <= LONGEST + 1e-6
    assert all(first.end <= second.start + 1e-6 for first, second in zip(lines, lines[1:]))
