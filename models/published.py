"""Checkpoints by name, and the families a run asks for on top of its configuration."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from models.config import Config, nearest
from models.errors import SpeechError
from models.families import REGISTRY, family, fetch
from models.families.options import defaults_of
from models.families.protocol import FamilyInfo, ModelSpec, Published
from models.weights import offline


def checkpoints() -> dict[str, tuple[FamilyInfo, Published]]:
    """Everything that can be fetched by name, family by family, each one's default first."""
    return {one.name: (about, one) for about in map(family, REGISTRY) for one in about.published}


def checkpoint(name: str) -> tuple[FamilyInfo, Published]:
    """Raises SpeechError("checkpoint_unknown") with the nearest right name."""
    known = checkpoints()
    if name not in known:
        raise SpeechError("checkpoint_unknown", "name", name=name, nearest=nearest(name, known))
    return known[name]


def spec_of(about: FamilyInfo, one: Published, taken: Iterable[str] = ()) -> ModelSpec:
    """A session of that checkpoint with default options, under its name (or the family's, where that is taken)."""
    defaults = defaults_of(about.options)
    return ModelSpec(one.name if one.name not in taken else about.name, about.name, options={**defaults, **one.options})


def here(about: FamilyInfo, one: Published) -> Path | None:
    """Where that checkpoint lies on this machine; None when it doesn't, or its packages aren't installed."""
    try:
        with offline():
            return fetch(spec_of(about, one), lambda line: None)
    except SpeechError:
        return None


def with_families(config: Config, names: Iterable[str]) -> Config:
    """The configuration with one session more for each named family it has none of: the family's default checkpoint.

    Raises SpeechError("family_unknown") with the nearest right name.
    """
    for name in names:
        if name not in REGISTRY:
            raise SpeechError("family_unknown", "with", name=name, nearest=nearest(name, REGISTRY))
        if all(spec.family != name for spec in config.models):
            about = family(name)
            added = spec_of(about, about.published[0], [spec.id for spec in config.models])
            config = replace(config, models=(*config.models, added))
    return config
