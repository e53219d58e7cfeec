from __future__ import annotations

import socket
import shutil
import threading
import time

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from models import huggingface
from models.errors import SpeechError
from models.families.pocket_tts.checkpoint import estimate_bytes, find, parts
from models.families.pocket_tts.loading import fingerprint, load_official
from models.weights import offline
from tests.hubs import running


def failing(spec) -> SpeechError:
    with pytest.raises(SpeechError) as caught:
        load_official(find(spec), "pocket")
    return caught.value


@pytest.fixture
def copy(pocket, tmp_path):
    return shutil.copytree(pocket, tmp_path / "copy")


def test_a_folder_that_is_no_checkpoint_says_what_is_missing(tmp_path, spec_of):
    error = failing(spec_of(tmp_path))
    assert error.code == "weights_broken"
    for name in ("config.yaml", "model.safetensors", "tokenizer.json"):
        assert name in error.sentence()
    assert "no such folder" in failing(spec_of(tmp_path / "nowhere")).sentence()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(copy, spec_of, name):
    (copy / name).unlink()
    error = failing(spec_of(copy))
    assert error.code == "weights_broken" and name in error.sentence() and str(copy) in error.sentence()


def test_missing_and_unexpected_weights_are_named(copy, spec_of):
    weights = load_file(copy / "model.safetensors")
    weights["flow_lm.other.weight"] = weights.pop("flow_lm.input_linear.weight")
    weights["flow_lm.bos_emb"] = torch.zeros(3)
    save_file(weights, copy / "model.safetensors")
    sentence = failing(spec_of(copy)).sentence()
    assert "missing: flow_lm.input_linear.weight" in sentence
    assert "unexpected: flow_lm.other.weight" in sentence
    assert "of another shape: flow_lm.bos_emb" in sentence


@pytest.mark.parametrize("content", ["flow_lm: [", "a: 1", "flow_lm: {}\nmimi: {}\n"])
def test_a_broken_configuration_is_a_clear_error(copy, spec_of, content):
    (copy / "config.yaml").write_text(content)
    assert failing(spec_of(copy)).code == "weights_broken"


def test_broken_weights_are_a_clear_error(copy, spec_of):
    (copy / "model.safetensors").write_bytes(b"not a tensor")
    assert failing(spec_of(copy)).code == "weights_broken"
    assert estimate_bytes(spec_of(copy)) > 0


def test_a_moved_folder_still_loads(copy, spec_of, pocket):
    config = yaml.safe_load((copy / "config.yaml").read_text())
    config["weights_path"] = "/somewhere/else/model.safetensors"
    config["flow_lm"]["lookup_table"]["tokenizer_path"] = "hf://kyutai/pocket-tts/tokenizer.json@abc"
    (copy / "config.yaml").write_text(yaml.safe_dump(config))
    assert fingerprint(find(spec_of(copy))) == fingerprint(find(spec_of(pocket)))


def test_a_folder_without_configuration_is_the_released_one_that_is_named(copy, spec_of):
    (copy / "config.yaml").unlink()
    found = find(spec_of(copy, checkpoint="german_24l"))
    assert found.language == "de" and found.config["flow_lm"]["transformer"]["num_layers"] == 24
    assert "nbins=4000" in failing(spec_of(copy)).sentence()  # the tiny tokenizer is not the released one
    assert find(spec_of(copy, checkpoint="german_24l", language="nl")).language == "nl"


def test_an_unknown_checkpoint_names_the_nearest(spec_of):
    error = failing(spec_of(None, checkpoint="englisch"))
    assert error.code == "config_invalid" and "did you mean english" in error.sentence()


def test_a_silent_hub_fails_within_seconds(spec_of, tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.setattr(huggingface, "ANSWER_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:  # takes the connection and never says a word
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        began = time.monotonic()
        error = failing(spec_of(None))
        assert time.monotonic() - began < 10
    assert error.code == "weights_missing"
    assert "path" in error.sentence() and "HF_ENDPOINT" in error.sentence() and "does not answer" in error.sentence()


def test_a_hub_that_refuses_says_so(spec_of, tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        error = failing(spec_of(None))
        thread.join()
    assert error.code == "weights_missing" and "404" in error.sentence()


def test_without_the_cloning_weights_the_public_ones_serve_without_network_too(spec_of, tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.delenv("READYVOICE_MIRROR", raising=False)
    folder = "languages/english"
    files = {f"{folder}/model.safetensors": b"weights", f"{folder}/tokenizer.json": b"{}",
             f"{folder}/embeddings/alba.safetensors": b"alba"}
    lines: list[str] = []
    with running({"kyutai/pocket-tts": files, "kyutai/pocket-tts-without-voice-cloning": files}) as there:
        monkeypatch.setenv("HF_ENDPOINT", there.address)
        there.gated = {"kyutai/pocket-tts"}
        found = find(spec_of(None), lines.append)
    assert not found.clones and list(found.voices) == ["alba"] and found.weights[0].read_bytes() == b"weights"
    assert any("without voice cloning" in line and "accept the terms" in line for line in lines)
    assert find(spec_of(None)) == found  # the server is gone
    with offline():
        assert find(spec_of(None)) == found


def test_hub_addresses(spec_of):
    assert parts("hf://kyutai/pocket-tts/languages/english/model.safetensors@abc") == (
        "kyutai/pocket-tts", "languages/english/model.safetensors", "abc")
    assert parts("hf://a/b/c.json")[2] is None
    with pytest.raises(ValueError):
        parts("https://example.org/model.safetensors")


def test_memory_is_estimated_from_files_alone(pocket, spec_of):
    size = (pocket / "model.safetensors").stat().st_size
    none = spec_of(pocket, voice_state_cache_slots=0)
    full, half = estimate_bytes(none), estimate_bytes(spec_of(pocket, "bfloat16", voice_state_cache_slots=0))
    assert size < full < size + 2**27
    assert estimate_bytes(spec_of(pocket, quantize=True, voice_state_cache_slots=0)) < half < full
    assert estimate_bytes(spec_of(pocket, voice_state_cache_slots=8)) > full
    released = estimate_bytes(spec_of(None, voice_state_cache_slots=0))  # 109.5 million numbers of 4 bytes
    assert 0.9 * 438e6 < released - 96 * 2**20 < 1.1 * 438e6
    assert estimate_bytes(spec_of(None, checkpoint="french_24l")) > 2 * released
