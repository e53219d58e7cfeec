from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.session import Session
from models.voices.clip import Clip
from tests.checkpoints import make_pocket_tts

TEXT = "Hello there, my friend."
BRIEF = {"eos_threshold": -20.0}  # every frame counts as the last: the fewest frames there can be


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """A tiny network gains nothing from a second thread, and threads that wait for each other cost a lot."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def pocket(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny checkpoint with the stock voices alba and bob."""
    return make_pocket_tts.tiny(tmp_path_factory.mktemp("pocket") / "tiny", voices=("alba", "bob"))


@pytest.fixture(scope="session")
def other_pocket(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same network with other weights, and no stock voice."""
    return make_pocket_tts.tiny(tmp_path_factory.mktemp("pocket") / "other", seed=1)


@pytest.fixture(scope="session")
def official(pocket: Path):
    return make_pocket_tts.official(pocket)


@pytest.fixture(scope="session")
def spec_of() -> Callable[..., ModelSpec]:
    def spec(path: Path | None, precision: str = "float32", **options) -> ModelSpec:
        declared = defaults_of(family("pocket_tts").options)
        return ModelSpec("pocket", "pocket_tts", path=path, precision=precision, options=declared | options)

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


@pytest.fixture(scope="package")
def resident(spec_of, pocket: Path) -> Iterator[Session]:
    """One session for the tests that leave it as it is."""
    session = Session(spec_of(pocket))
    session.start()
    session.wait_ready(60)
    yield session
    session.close()


@pytest.fixture(scope="session")
def clip_of() -> Callable[..., Clip]:
    """A clip of noise that rises and falls like syllables; another seed is another voice."""

    def make(seed: int, seconds: float = 1.2, rate: int = 24000, level: float = 0.2) -> Clip:
        count = round(seconds * rate)
        noise = np.random.default_rng(seed).standard_normal(count)
        return Clip((level * noise * np.abs(np.sin(np.arange(count) / rate * 9))).astype(np.float32), rate)

    return make
