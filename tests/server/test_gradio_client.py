"""The page's named endpoints, through Gradio's own client."""
from __future__ import annotations

import base64
import time
import wave
from collections.abc import Iterator
from pathlib import Path

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from models.audio.decode import decode
from tests.listening import transcribe, word_error_rate
from tests.waiting import until
from ui.endpoints import _sweep

LINE = "The quick brown fox jumps over the lazy dog."


@pytest.fixture(scope="module")
def caller(served, tmp_path_factory) -> Iterator[Client]:
    client = Client(served.url, verbose=False, download_files=tmp_path_factory.mktemp("fetched"))
    yield client
    client.close()


def test_the_endpoints_have_names_and_say_what_they_take(caller):
    named = caller.view_api(return_format="dict")["named_endpoints"]
    assert set(named) == {"/speak", "/stream", "/models"}
    assert [one["parameter_name"] for one in named["/speak"]["parameters"]] == [
        "text", "voice", "model", "language", "speed", "seed", "options"]
    assert [one["parameter_has_default"] for one in named["/speak"]["parameters"]] == [False] + [True] * 6


@pytest.mark.parametrize("model", ["kokoro", "joe"])
def test_a_text_becomes_a_file(caller, model):
    file = Path(caller.predict(LINE, model=model, seed=1, api_name="/speak"))
    sound = decode(file.read_bytes())
    assert word_error_rate(LINE, transcribe(sound.samples, sound.sample_rate, "en")) < 0.2
    assert b"ReadyVoice" in file.read_bytes()  # in its comment


def test_it_is_what_the_stream_says(caller, served):
    body = {"text": LINE, "model": "joe", "seed": 5, "speed": 1.25, "options": {"noise_scale": 0.3}}
    whole = served.post("api/stream", body).read()
    pieces = list(caller.submit(**body, api_name="/stream"))
    assert b"".join(base64.b64decode(piece["audio"]) for piece in pieces[:-1]) == whole
    assert [piece["index"] for piece in pieces[:-1]] == list(range(len(pieces) - 1))
    assert {piece["sample_rate"] for piece in pieces[:-1]} == {22050} and pieces[0]["offset"] == 0
    assert pieces[-1]["metrics"]["state"] == "done" and pieces[-1]["metrics"]["ttfa"] > 0
    with wave.open(caller.predict(**body, api_name="/speak")) as file:
        assert file.readframes(file.getnframes()) == whole


def test_the_models_are_listed(caller, served):
    assert [one["id"] for one in caller.predict(api_name="/models")["models"]] == ["kokoro", "joe"]


@pytest.mark.parametrize(("fields", "says"), [
    ({"text": ""}, "text"), ({"text": "Hi.", "voice": "nobody"}, "nobody"), ({"text": "Hi.", "model": "kokro"}, "kokoro"),
    ({"text": "Hi.", "speed": 9}, "0.5 to 2"), ({"text": "x" * 30_000}, "20000"), ({"text": "Hi.", "options": {"noise_scal": 1}}, "noise_scal"),
    ({"text": 5}, "text"), ({"text": "Hi.", "voice": "my:../../etc/passwd"}, "voice"),
])
@pytest.mark.parametrize("name", ["/speak", "/stream"])
def test_what_is_wrong_is_said(caller, fields, says, name):
    with pytest.raises(AppError, match=says):
        caller.predict(**fields, api_name=name)


def test_a_cancelled_stream_frees_the_session(caller, served):
    text = " ".join(f"Chapter {number} tells of ships and of those who sail." for number in range(200))
    job = caller.submit(text=text, model="joe", api_name="/stream")
    until(lambda: len(job.outputs()) > 0, 30)
    job.cancel()
    until(served.idle, 10)


def test_files_that_are_old_or_too_many_go(tmp_path):
    import os

    def file(name: str, age: float, size: int = 10) -> Path:
        path = tmp_path / name / "speech.wav"
        path.parent.mkdir()
        path.write_bytes(b"x" * size)
        os.utime(path, (time.time() - age,) * 2)
        return path

    old, young = file("a", 700), file("b", 500)
    _sweep(tmp_path, 10)
    assert not old.exists() and young.exists()
    _sweep(tmp_path, 256 << 20)
    assert not young.exists()
