"""Tiny Qwen3-TTS checkpoints, made once a test run, and sessions on them."""
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
from tests.checkpoints.make_qwen3_tts import tiny

KINDS = ("base", "custom_voice", "voice_design")
WORDS = "some words that are in the clip"


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Networks this small only wait for each other on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, one_thread: None) -> Callable[..., Path]:
    """checkpoint(kind, **as of `tiny`): the folder, made at most once."""
    made: dict[tuple, Path] = {}

    def make(kind: str, **changes) -> Path:
        key = (kind, *sorted(changes.items()))
        if key not in made:
            made[key] = tiny(tmp_path_factory.mktemp(f"qwen-{kind}") / "checkpoint", kind, **changes)
        return made[key]

    return make


@pytest.fixture(scope="session")
def spec_of() -> Callable[..., ModelSpec]:
    def spec(path: Path | None, precision: str = "float32", voice: str = "", **options) -> ModelSpec:
        declared = defaults_of(family("qwen3_tts").options)
        return ModelSpec("qwen", "qwen3_tts", path=path, device="cpu", precision=precision, voice=voice,
                         options=declared | options)

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


@pytest.fixture(scope="session")
def sessions(checkpoint, spec_of) -> Iterator[dict[str, Session]]:
    """One session of each kind for the tests that leave it as it is."""
    running = {kind: Session(spec_of(checkpoint(kind))) for kind in KINDS}
    for session in running.values():
        session.start()
        session.wait_ready(60)
    yield running
    for session in running.values():
        session.close()


@pytest.fixture(scope="session")
def clip_of() -> Callable[..., Clip]:
    """A clip of noise that rises and falls like syllables; another seed is another voice."""

    def make(seed: int, seconds: float = 1.5, words: str = WORDS, rate: int = 24000, level: float = 0.2) -> Clip:
        count = round(seconds * rate)
        noise = np.random.default_rng(seed).standard_normal(count)
        return Clip((level * noise * np.abs(np.sin(np.arange(count) / rate * 9))).astype(np.float32), rate, words)

    return make
