from __future__ import annotations

import pytest
import torch

from models.errors import SpeechError
from models.families import device
from models.families.device import device_of, onnx_device_of, precision_of

HERE = torch.cuda.device_count() if torch.cuda.is_available() else 0


def test_auto_is_what_is_there():
    assert device_of("auto", "m") == ("cuda:0" if HERE else "cpu") and device_of("cpu", "m") == "cpu"
    assert onnx_device_of("cpu", "m") == "cpu"


@pytest.mark.parametrize("wish", ["cuda:63", *([] if HERE else ["cuda", "cuda:0"])])
def test_a_gpu_that_is_not_there_is_said(wish):
    for choose in (device_of, *([] if HERE else [onnx_device_of])):
        with pytest.raises(SpeechError, match=f"mine is set to run on {wish}, and this machine has no such device") as caught:
            choose(wish, "mine")
        assert caught.value.code == "device_missing" and 'device = "auto"' in caught.value.sentence("zh")


@pytest.mark.skipif(not HERE, reason="needs a GPU")
def test_a_gpu_that_is_there_is_taken():
    assert device_of("cuda", "m") == f"cuda:{torch.cuda.current_device()}" and device_of("cuda:0", "m") == "cuda:0"


@pytest.mark.parametrize(("flags", "kind"), [
    ({"avx2"}, "float32"), ({"avx512_bf16"}, "bfloat16"), ({"amx_bf16", "amx_tile"}, "bfloat16"), (set(), "float32"),
])
def test_precision_follows_the_processor(monkeypatch, flags, kind):
    monkeypatch.setattr(device, "cpu_flags", lambda: frozenset(flags))
    assert precision_of("auto", "cpu") == kind
    assert precision_of("float16", "cpu") == "float16"


@pytest.mark.parametrize(("capability", "kind"), [((7, 5), "float16"), ((8, 0), "bfloat16"), ((9, 0), "bfloat16")])
def test_precision_on_a_gpu(monkeypatch, capability, kind):
    assert precision_of("auto", "cuda:0") == "float16"
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert precision_of("auto", "cuda:0", "bfloat16") == kind
