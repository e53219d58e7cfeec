"""A model's own controls on the command line: --option NAME=VALUE, and what there is to set."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from models.config import Config
from models.errors import SpeechError
from models.families import REGISTRY, family
from models.families.options import checked_controls, expectation, in_every_language, read
from models.families.protocol import FamilyInfo, ModelSpec


def parsed(given: Sequence[str], spec: ModelSpec) -> dict[str, Any]:
    """NAME=VALUE pairs as a request's options, checked before anything loads.

    Raises SpeechError: control_unknown or field_invalid, naming what is wrong.
    """
    about, values = family(spec.family), {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals:
            raise SpeechError("field_invalid", "option", name="--option",
                              expected={"en": "written as NAME=VALUE", "zh": "名称=值"})
        values[name] = text
        if name in about.controls:
            try:
                values[name] = read(text, about.controls[name])
            except ValueError as error:
                raise SpeechError("field_invalid", f"options.{name}", name=name,
                                  expected=expectation(about.controls[name])) from error
    checked_controls(about, spec.id, values)
    return values


def listing(config: Config) -> str:
    """The controls of each model of the configuration."""
    return "\n".join(f"{spec.id}{described(family(spec.family))}" for spec in config.models)


def all_families() -> str:
    return "\n".join(f"{name}{described(family(name))}" for name in REGISTRY)


def described(about: FamilyInfo) -> str:
    """A line for each control: name, what it takes, its default, and what it does."""
    if not about.controls:
        return ": no controls"
    lines = [f", {about.title}:"]
    for name, option in about.controls.items():
        default = "" if option.default in (None, "") else f", {str(option.default).lower()} by default"
        lines.append(f"  {name} = {expectation(option)['en']}{default}: {in_every_language(option.help)['en']}")
    return "\n".join(lines)
