from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.session import Session
from tests.checkpoints import make_supertonic

TEXT = "Hello there, this is a sentence to hear."


@pytest.fixture(scope="session")
def supertonic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny checkpoint with the styles F1 and M1."""
    return make_supertonic.tiny(tmp_path_factory.mktemp("supertonic") / "tiny")


@pytest.fixture(scope="session")
def spec_of() -> Callable[..., ModelSpec]:
    def spec(path: Path | None, **options) -> ModelSpec:
        declared = defaults_of(family("supertonic").options)
        return ModelSpec("supertonic", "supertonic", path=path, options=declared | {"threads": 1} | options)

    return spec


@pytest.fixture
def start(spec_of) -> Iterator[Callable[..., Session]]:
    """Starts sessions and ends them with the test."""
    sessions = []

    def begin(path: Path, **options) -> Session:
        session = Session(spec_of(path, **options))
        sessions.append(session)
        session.start()
        session.wait_ready(60)
        return session

    yield begin
    for session in sessions:
        session.close()
