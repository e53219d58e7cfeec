"""Controls that several families declare alike."""
from __future__ import annotations

from models.families.protocol import Option

NORMALISE = Option(bool, True, {
    "en": "read digits, dates, units and the like as words", "zh": "把数字、日期、单位等读成文字",
}, label={"en": "Read numbers as words", "zh": "数字读成文字"})
