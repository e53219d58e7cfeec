from __future__ import annotations

import json
import shutil
import socket
import time

import onnx
import pytest

from models import huggingface
from models.errors import SpeechError
from models.families import family
from models.families.supertonic.checkpoint import FILES, LANGUAGES, estimate_bytes, find
from models.session import Session


def failing(spec) -> str:
    """Why a session of this checkpoint can't start."""
    session = Session(spec)
    session.start()
    with pytest.raises(SpeechError):
        session.wait_ready(60)
    return session.report()["reason"]


@pytest.fixture
def copy(supertonic, tmp_path):
    return shutil.copytree(supertonic, tmp_path / "copy")


def test_a_folder_that_is_no_checkpoint_says_what_is_missing(tmp_path, spec_of):
    reason = failing(spec_of(tmp_path))
    assert all(name in reason for name in (*FILES, "voice_styles"))
    assert "no such folder" in failing(spec_of(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", [*FILES, "voice_styles"])
def test_a_missing_part_is_named(copy, spec_of, name):
    shutil.rmtree(copy / name) if (copy / name).is_dir() else (copy / name).unlink()
    assert name in failing(spec_of(copy))


@pytest.mark.parametrize(("name", "content", "words"), [
    ("onnx/tts.json", "{", "tts.json"), ("onnx/tts.json", '{"ae": {"sample_rate": 44100}}', "base_chunk_size"),
    ("onnx/tts.json", '{"ae": {"sample_rate": "fast"}}', "sample_rate"), ("onnx/unicode_indexer.json", "{", "unicode_indexer"),
    ("onnx/unicode_indexer.json", "[]", "unicode_indexer"), ("onnx/vocoder.onnx", "no graph", "vocoder.onnx")])
def test_a_broken_part_is_named(copy, spec_of, name, content, words):
    (copy / name).write_text(content)
    assert words in failing(spec_of(copy))


def test_a_graph_with_other_inputs_is_named(copy, spec_of):
    shutil.copy(copy / "onnx" / "text_encoder.onnx", copy / "onnx" / "duration_predictor.onnx")
    reason = failing(spec_of(copy))
    assert "duration_predictor.onnx" in reason and "style_dp" in reason and "style_ttl" in reason


@pytest.mark.parametrize("change", [
    lambda style: style.pop("style_dp"), lambda style: style["style_ttl"].pop("dims"),
    lambda style: style["style_ttl"].update(dims=[1, 8, 5]), lambda style: style["style_dp"]["data"].pop(),
    lambda style: style.update(style_ttl={"dims": [1, 5, 8], "data": [[[float("nan")] * 8] * 5]})])
def test_a_broken_style_is_named(copy, spec_of, change):
    file = copy / "voice_styles" / "M1.json"
    style = json.loads(file.read_text())
    change(style)
    file.write_text(json.dumps(style))
    assert "M1.json" in failing(spec_of(copy))


def test_a_silent_hub_fails_within_seconds(spec_of, tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.setattr(huggingface, "ANSWER_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        began = time.monotonic()
        with pytest.raises(SpeechError) as caught:
            find(spec_of(None))
        assert time.monotonic() - began < 10
    assert caught.value.code == "weights_missing" and "path" in caught.value.sentence()


def test_fetch_finds_a_folder_without_network(supertonic, spec_of):
    assert family("supertonic").fetch(spec_of(supertonic), print) == supertonic


def test_languages_are_the_package_s():
    from supertonic.config import AVAILABLE_MODELS, SUPPORTED_LANGUAGES

    assert set(LANGUAGES) == set(AVAILABLE_MODELS)
    assert set(LANGUAGES["supertonic-3"]) == set(SUPPORTED_LANGUAGES)


def test_memory_is_estimated_from_files_alone(copy, spec_of):
    small = estimate_bytes(spec_of(copy))
    (copy / "onnx" / "vocoder.onnx").write_bytes(bytes(50_000_000))
    assert 50e6 < estimate_bytes(spec_of(copy)) - small < 80e6
    assert estimate_bytes(spec_of(None)) > 100e6


def test_the_checkpoints_of_the_tests_are_sound(supertonic):
    for file in (supertonic / "onnx").glob("*.onnx"):
        onnx.checker.check_model(onnx.load(str(file)))
