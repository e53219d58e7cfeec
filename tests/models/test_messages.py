from __future__ import annotations

import re
import string

import pytest

from models.errors import SpeechError
from models.messages import LANGUAGES, MESSAGES


@pytest.mark.parametrize("code", MESSAGES)
def test_every_message_says_the_same_in_each_language(code):
    entry = MESSAGES[code]
    holes = {language: {name for _, name, _, _ in string.Formatter().parse(entry[language]) if name} for language in LANGUAGES}
    assert len({frozenset(names) for names in holes.values()}) == 1
    assert 400 <= entry["status"] <= 599
    assert re.search(r"[\u4e00-\u9fff]", entry["zh"])
    filled = SpeechError(code, **{name: "X" for name in holes["en"]})
    for language in LANGUAGES:
        sentence = filled.sentence(language)
        assert sentence[-1] in ".。" and "\n" not in sentence


def test_params_may_be_phrases_per_language():
    error = SpeechError("field_invalid", "speed", name="speed", expected={"en": "a number", "zh": "数字"})
    assert error.sentence("en") == "speed must be a number."
    assert error.sentence("zh") == "speed 应为：数字。"
    assert error.sentence("fr") == error.sentence("en")
