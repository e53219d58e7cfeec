"""Tiny VoxCPM checkpoints, made once a test run, and sessions on them."""
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
from tests.checkpoints.make_voxcpm import VERSIONS, tiny

Maker = Callable[..., Path]
WORDS = "These are the words."


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Networks this small only wait for each other on several."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, one_thread: None) -> Maker:
    """checkpoint(version, **as of `tiny`): the folder, made at most once."""
    made: dict[tuple, Path] = {}

    def make(version: str, **changes) -> Path:
        key = (version, *sorted(changes.items()))
        if key not in made:
            made[key] = tiny(tmp_path_factory.mktemp(f"voxcpm-{version}") / "checkpoint", version, **changes)
        return made[key]

    return make


def spec_of(path: Path | None, version: str = "1.5", **changes) -> ModelSpec:
    options = defaults_of(family("voxcpm").options) | changes.pop("options", {})
    return ModelSpec(**{"id": f"voxcpm-{version}", "family": "voxcpm", "path": path, "device": "cpu",
                        "precision": "float32", "options": options} | changes)


def started(spec: ModelSpec) -> Session:
    session = Session(spec)
    session.start()
    session.wait_ready(120)
    return session


@pytest.fixture(scope="package", params=VERSIONS)
def any_session(request: pytest.FixtureRequest, checkpoint: Maker) -> Iterator[Session]:
    """A session of each version in turn."""
    session = started(spec_of(checkpoint(request.param), request.param))
    yield session
    session.close()


@pytest.fixture(scope="package")
def second(checkpoint: Maker) -> Iterator[Session]:
    """VoxCPM 2."""
    session = started(spec_of(checkpoint("2"), "2"))
    yield session
    session.close()


@pytest.fixture(scope="package")
def first(checkpoint: Maker) -> Iterator[Session]:
    """VoxCPM 1.5."""
    session = started(spec_of(checkpoint("1.5"), "1.5"))
    yield session
    session.close()


def clip_of(seed: int, seconds: float = 1.2, rate: int = 24000, words: str = WORDS) -> Clip:
    """A hum of its own pitch with some noise."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    hum = 0.2 * np.sin(2 * np.pi * (110 + 30 * seed) * time) + 0.03 * rng.standard_normal(len(time))
    return Clip(hum.astype(np.float32), rate, words)
