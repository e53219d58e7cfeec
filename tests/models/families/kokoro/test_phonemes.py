from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from models.families.kokoro import phonemes
from models.text.phonemes.alphabet import VOCABULARY


def test_cuts_fall_at_the_best_border():
    assert phonemes.pieces("aaa. bbb, ccc", 8) == ["aaa.", "bbb, ccc"]
    assert phonemes.pieces("aaaa bbbb, cc", 12) == ["aaaa bbbb,", "cc"]
    assert phonemes.pieces("aaaa bbbb cc", 10) == ["aaaa bbbb", "cc"]
    assert phonemes.pieces("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]
    assert phonemes.pieces("  ", 10) == []


@given(st.text(alphabet=list("ab ,.!"), max_size=300), st.integers(4, 40))
def test_pieces_are_short_enough_and_lose_nothing(text, limit):
    pieces = phonemes.pieces(text, limit)
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_unknown_symbols_are_left_out():
    assert phonemes.ids("a☃b", VOCABULARY) == [VOCABULARY["a"], VOCABULARY["b"]]


def test_a_checkpoint_may_bring_its_own_symbols(tmp_path):
    assert phonemes.vocabulary(tmp_path) is VOCABULARY
    (tmp_path / "config.json").write_text(json.dumps({"vocab": {"ㄅ": 30}}), encoding="utf-8")
    assert phonemes.vocabulary(tmp_path / "kokoro-v1_1-zh.pth") == {"ㄅ": 30}
