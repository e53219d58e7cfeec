from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from models.events import SpeechRequest
from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec, Turn
from models.families.vits.model import VitsModel
from models.families.vits.network import Network
from models.families.vits.piper import PiperVoice, find_voices
from models.families.vits.prepare import prepare
from tests.models.families.vits.tiny import write_voice


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory) -> Path:
    """A folder with a multi-speaker voice of random weights."""
    folder = tmp_path_factory.mktemp("tiny")
    write_voice(folder)
    return folder


@pytest.fixture(scope="session")
def default_folder() -> Path:
    return family("vits").fetch(ModelSpec("vits", "vits"), print)


@pytest.fixture(scope="session", params=["joe", "tiny"])
def voice(request, tiny_folder, default_folder) -> PiperVoice:
    return find_voices(default_folder if request.param == "joe" else tiny_folder, "vits")[0]


@pytest.fixture(scope="session")
def network(voice) -> Network:
    return Network(*prepare(voice, "vits", print), threads=1)


def load(path: Path | None, voice: str = "", **options) -> VitsModel:
    info = family("vits")
    defaults = defaults_of(info.options)
    model = info.create(ModelSpec("vits", "vits", path=path, voice=voice, options=defaults | options))
    model.load(lambda line: None)
    return model


@pytest.fixture(scope="session")
def joe(default_folder) -> Iterator[VitsModel]:
    model = load(None)
    yield model
    model.unload()


@pytest.fixture(scope="session")
def crowd(tiny_folder) -> Iterator[VitsModel]:
    """The multi-speaker voice as a model."""
    model = load(tiny_folder)
    yield model
    model.unload()


def spoken(model: VitsModel, text: str, turn: Turn | None = None, **fields) -> np.ndarray:
    request = SpeechRequest(text=text, **fields)
    plan = model.plan(request)
    turn = turn or Turn()
    chunks = [chunk for segment in plan.segments for chunk in model.speak(segment, plan, request, turn)]
    return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)


@pytest.fixture(scope="session")
def say() -> Callable[..., np.ndarray]:
    return spoken
