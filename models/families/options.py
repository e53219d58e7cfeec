"""Checking values against declared options: session options of a configuration, controls of a request."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from models.errors import SpeechError
from models.families.protocol import FamilyInfo, Option, Words
from models.messages import LANGUAGES

SPOKEN_BOOLS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
KINDS = {
    bool: {"en": "true or false", "zh": "true 或 false"},
    int: {"en": "a whole number", "zh": "整数"},
    float: {"en": "a number", "zh": "数字"},
    str: {"en": "a text", "zh": "文字"},
}


def defaults_of(declared: Mapping[str, Option]) -> dict[str, Any]:
    """What every declared option or control is when nobody sets it."""
    return {name: option.default for name, option in declared.items()}


def fitting(value: Any, option: Option) -> Any:
    """The value as the option's type. Raises ValueError when it is of another kind or out of range."""
    if option.type is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    right = isinstance(value, option.type) and (option.type is bool or not isinstance(value, bool))
    if right and option.choices is not None:
        right = value in option.choices
    if right and option.type in (int, float):
        right = math.isfinite(value) and (option.low is None or value >= option.low)
        right = right and (option.high is None or value <= option.high)
    if not right:
        raise ValueError(f"{value!r} is not {expectation(option)['en']}")
    return value


def expectation(option: Option) -> dict[str, str]:
    """What a value must be, in words, per language."""
    if option.choices is not None:
        listed = ", ".join(option.choices)
        return {"en": f"one of {listed}", "zh": f"以下之一：{listed}"}
    kind = KINDS[option.type]
    if option.low is not None and option.high is not None:
        return {"en": f"{kind['en']} from {option.low:g} to {option.high:g}",
                "zh": f"{option.low:g} 到 {option.high:g} 之间的{kind['zh']}"}
    return kind


def checked_controls(about: FamilyInfo, model_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A request's options against the family's controls; left-out ones get their default.

    Raises SpeechError("control_unknown" or "field_invalid") naming options.NAME.
    """
    for name in given:
        if name not in about.controls:
            raise SpeechError("control_unknown", f"options.{name}", model=model_id, name=name,
                              choices=list(about.controls) or {"en": "none", "zh": "无"})
    values = {}
    for name, option in about.controls.items():
        try:
            values[name] = fitting(given[name], option) if name in given else option.default
        except ValueError as error:
            raise SpeechError("field_invalid", f"options.{name}", name=name, expected=expectation(option)) from error
    return values


def described(option: Option) -> dict[str, Any]:
    """A control as the API tells it and the page builds it: type by name, label and help in every language."""
    return {**vars(option), "type": option.type.__name__, "label": in_every_language(option.label),
            "help": in_every_language(option.help)}


def in_every_language(words: Words) -> dict[str, str]:
    return {language: words if isinstance(words, str) else words[language] for language in LANGUAGES}


def read(text: str, option: Option) -> Any:
    """A value as typed on a command line. Raises ValueError when it is none of the option's type."""
    if option.type is bool:
        if text.lower() not in SPOKEN_BOOLS:
            raise ValueError(f"{text} is not {expectation(option)['en']}")
        return SPOKEN_BOOLS[text.lower()]
    return option.type(text)
