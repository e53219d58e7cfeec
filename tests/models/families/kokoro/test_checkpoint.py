from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from models.errors import SpeechError
from models.families.kokoro import checkpoint, engine


def test_weight_norm_is_folded_old_and_new_style():
    direction, magnitude = torch.randn(4, 3, 5), torch.rand(4, 1, 1) + 0.5
    wanted = direction / direction.norm(dim=(1, 2), keepdim=True) * magnitude
    old = checkpoint.canonical({"decoder.module.conv.weight_v": direction, "decoder.module.conv.weight_g": magnitude})
    new = checkpoint.canonical({"decoder.conv.parametrizations.weight.original1": direction,
                                "decoder.conv.parametrizations.weight.original0": magnitude})
    assert list(old) == list(new) == ["decoder.conv.weight"]
    assert torch.allclose(old["decoder.conv.weight"], wanted) and torch.allclose(new["decoder.conv.weight"], wanted)


def test_what_inference_does_not_use_is_dropped():
    assert checkpoint.canonical({
        "bert.module.pooler.weight": torch.ones(2), "bert.embeddings.position_ids": torch.arange(3),
        "decoder.encode.norm1.norm.weight": torch.ones(2), "decoder.encode.norm1.norm.bias": torch.zeros(2),
    }) == {}
    with pytest.raises(checkpoint.CheckpointError, match="decoder.encode.norm1.norm.weight"):
        checkpoint.canonical({"decoder.encode.norm1.norm.weight": torch.full((2,), 2.0)})


def test_differences_are_named():
    wanted = {"a": torch.empty(2), "b": torch.empty(3)}
    with pytest.raises(checkpoint.CheckpointError, match="1 tensors missing: b"):
        checkpoint.check({"a": torch.empty(2)}, wanted)
    with pytest.raises(checkpoint.CheckpointError, match="1 tensors unexpected: c"):
        checkpoint.check({**wanted, "c": torch.empty(1)}, wanted)
    with pytest.raises(checkpoint.CheckpointError, match=r"b is \[4\], not \[3\]"):
        checkpoint.check({"a": torch.empty(2), "b": torch.empty(4)}, wanted)


@pytest.mark.parametrize("content", [b"", b"not weights", b"PK\x03\x04broken"])
@pytest.mark.parametrize("name", ["kokoro.pth", "kokoro.safetensors"])
def test_broken_files_are_refused_in_a_sentence(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(SpeechError) as caught:
        engine.load(file, "cpu", "float32", print)
    assert caught.value.code == "weights_broken" and str(file) in str(caught.value)


def test_another_models_tensors_are_refused(tmp_path):
    save_file({"encoder.weight": torch.zeros(2, 2)}, tmp_path / "model.safetensors")
    with pytest.raises(SpeechError, match="tensors missing: bert"):
        engine.load(tmp_path / "model.safetensors", "cpu", "float32", print)
