"""Exactly the checkpoint asked for, or an error that says what is wrong with it."""
from __future__ import annotations

import json
import shutil
import socket
import time

import pytest
import torch
from safetensors.torch import load_file, save_file

from models.errors import SpeechError
from models.families import family
from models.families.qwen3_tts.checkpoint import estimate_bytes, open_checkpoint, tensor_shapes
from models.families.qwen3_tts.loading import load_official
from models.families.qwen3_tts.names import CHECKPOINTS


@pytest.fixture
def copied(checkpoint, tmp_path):
    return shutil.copytree(checkpoint("base"), tmp_path / "copy")


def refused(folder, precision="float32") -> SpeechError:
    with pytest.raises(SpeechError) as caught:
        load_official(open_checkpoint(folder, "qwen"), "cpu", precision, "qwen")
    return caught.value


def edit(folder, part: str, change) -> None:
    file = folder / part / "model.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file, metadata={"format": "pt"})


@pytest.mark.parametrize("name", ["config.json", "merges.txt", "model.safetensors", "speech_tokenizer/config.json",
                                  "speech_tokenizer/model.safetensors", "generation_config.json"])
def test_a_missing_file_is_named(copied, name):
    (copied / name).unlink()
    with pytest.raises(SpeechError) as caught:
        open_checkpoint(copied, "qwen")
    assert caught.value.code == "weights_broken" and name in caught.value.sentence()


def test_a_folder_that_is_none_or_empty(tmp_path):
    for folder, says in ((tmp_path / "nowhere", "no such folder"), (tmp_path, "config.json")):
        with pytest.raises(SpeechError, match=says):
            open_checkpoint(folder, "qwen")


@pytest.mark.parametrize(("part", "changes", "says"), [
    ("", {"model_type": "qwen2"}, "not of a Qwen3-TTS"), ("", {"tts_model_type": "singing"}, "singing"),
    ("", {"talker_config": None}, "not of a Qwen3-TTS"),
    ("speech_tokenizer", {"model_type": "qwen3_tts_tokenizer_25hz"}, "12 Hz"),
])
def test_another_kind_of_model_is_told(copied, part, changes, says):
    file = copied / part / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(SpeechError, match=says):
        open_checkpoint(copied, "qwen")


@pytest.mark.parametrize(("part", "name"), [
    ("", "talker.code_predictor.lm_head.1.weight"), ("", "speaker_encoder.fc.weight"),
    ("speech_tokenizer", "decoder.pre_conv.conv.weight"),
    ("speech_tokenizer", "encoder.quantizer.acoustic_residual_vector_quantizer.layers.0.codebook.embed_sum"),
])
def test_missing_weights_are_named(copied, part, name):
    edit(copied, part, lambda tensors: tensors.pop(name))
    error = refused(copied)
    assert error.code == "weights_broken" and name in error.sentence() and "missing" in error.sentence()


def test_left_over_weights_are_named(copied):
    edit(copied, "", lambda tensors: tensors.update({"talker.extra.weight": torch.zeros(3)}))
    assert "talker.extra.weight" in refused(copied).sentence()


def test_what_other_versions_save_besides_does_no_harm(copied):
    edit(copied, "", lambda tensors: tensors.update({"talker.model.rotary_emb.inv_freq": torch.zeros(8)}))
    load_official(open_checkpoint(copied, "qwen"), "cpu", "float32", "qwen")


def test_weights_of_another_shape_are_named(copied):
    edit(copied, "", lambda tensors: tensors.update({"talker.codec_head.weight": torch.zeros(1088, 16)}))
    assert "talker.codec_head.weight is [1088, 16], not [1088, 32]" in refused(copied).sentence()


@pytest.mark.parametrize("damage", [lambda data: data[:len(data) // 2], lambda data: b"not found", lambda data: b""])
def test_a_damaged_file_is_named(copied, damage):
    file = copied / "model.safetensors"
    file.write_bytes(damage(file.read_bytes()))
    error = refused(copied)
    assert error.code == "weights_broken" and "model.safetensors" in error.sentence()


def test_weights_in_several_files(copied, checkpoint):
    tensors = load_file(copied / "model.safetensors")
    (copied / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
    for file, chosen in parts.items():
        save_file({name: tensors[name] for name in chosen}, copied / file, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {name: file for file, chosen in parts.items() for name in chosen}}
    (copied / "model.safetensors.index.json").write_text(json.dumps(index))
    loaded = load_official(open_checkpoint(copied, "qwen"), "cpu", "float32", "qwen")
    assert torch.equal(loaded.model.talker.codec_head.weight, tensors["talker.codec_head.weight"])
    (copied / "model-2.safetensors").unlink()
    with pytest.raises(SpeechError, match="model-2.safetensors"):
        open_checkpoint(copied, "qwen")


def test_precision_is_of_the_talker_alone(checkpoint):
    loaded = load_official(open_checkpoint(checkpoint("base"), "qwen"), "cpu", "bfloat16", "qwen")
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.bfloat16}
    assert loaded.model.talker.model.rotary_emb.inv_freq.dtype == torch.float32
    assert {parameter.dtype for parameter in loaded.model.speech_tokenizer.model.parameters()} == {torch.float32}


def test_the_weights_loaded_are_those_of_the_files(checkpoint):
    folder = checkpoint("base", seed=5)
    loaded = load_official(open_checkpoint(folder, "qwen"), "cpu", "float32", "qwen").model
    for network, file in ((loaded, folder), (loaded.speech_tokenizer.model, folder / "speech_tokenizer")):
        for name, tensor in load_file(file / "model.safetensors").items():
            assert torch.equal(network.state_dict()[name], tensor), name


def test_checkpoints_differ_by_content_not_by_name(checkpoint, copied):
    mark = open_checkpoint(checkpoint("base"), "a").mark
    assert open_checkpoint(copied, "b").mark == mark
    edit(copied, "", lambda tensors: tensors["talker.codec_head.weight"].add_(1))
    assert open_checkpoint(copied, "b").mark != mark


def test_the_estimate_comes_from_headers(checkpoint, spec_of):
    folder = checkpoint("base")
    numbers = sum(tensor.numel() for tensor in load_file(folder / "model.safetensors").values())
    assert sum(torch.Size(shape).numel() for shape in tensor_shapes([folder / "model.safetensors"]).values()) == numbers
    full, half = (estimate_bytes(spec_of(folder, precision)) for precision in ("float32", "bfloat16"))
    assert full - half >= 2 * numbers
    published = estimate_bytes(spec_of(None, "bfloat16", checkpoint="qwen3-tts-1.7b-base"))
    assert 4e9 < published < 8e9 and family("qwen3_tts").estimate(spec_of(folder)) == full


@pytest.mark.parametrize("name", list(CHECKPOINTS)[:1])
def test_a_hub_that_does_not_answer_fails_within_seconds(name, spec_of, monkeypatch, tmp_path):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    with socket.socket() as silent:  # takes connections and never says a word
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        with pytest.raises(SpeechError) as caught:
            family("qwen3_tts").fetch(spec_of(None, checkpoint=name), lambda line: None)
    assert caught.value.code == "weights_missing" and "path" in caught.value.sentence()
    assert time.monotonic() - began < 60
