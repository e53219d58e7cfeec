"""Real speech for tests of clips: the Piper voice joe, whom no other model knows. And a folder for saved voices."""
from __future__ import annotations

import functools
import os

import numpy as np
import pytest

from models.events import SpeechRequest
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.families.vits import FAMILY
from models.session import Session
from models.voices.library import Library

LINES = (
    "The harbour was quiet that morning, and only a few boats lay between the stones.",
    "We walked along the shore, talking about the summer that had gone.",
    "Nobody expected the storm that came later in the day.",
    "When it was over, the old woman opened her door and counted the ships.",
    "There were seven of them, and all of them were safe.",
)


@pytest.fixture(scope="session")
def joe():
    """joe(text) -> (float32 samples, rate); the same text gives the same samples."""
    options = defaults_of(FAMILY.options) | {"threads": min(2, os.cpu_count() or 1)}
    session = Session(ModelSpec("joe", "vits", options=options))
    session.start()
    session.wait_ready()

    @functools.cache
    def speak(text: str) -> tuple[np.ndarray, int]:
        speech = session.run(SpeechRequest(text, seed=1))
        speech.samples.setflags(write=False)
        return speech.samples, speech.sample_rate

    yield speak
    session.close()


@pytest.fixture(scope="session")
def speech(joe) -> tuple[np.ndarray, int]:
    """About 18 s: all of `LINES`."""
    return joe(" ".join(LINES))


@pytest.fixture
def library(tmp_path) -> Library:
    return Library(tmp_path / "voices")
