"""The C++ network against the torch one in float32, which the official one vouches for."""
from __future__ import annotations

import pytest
import torch

from models.errors import SpeechError
from models.families.kokoro import checkpoint, engine
from models.families.kokoro.native import build
from tests.models.families.kokoro.conftest import LONG, SHORT, seeded, snr, tokens

WORD = "hˈaɪ"


@pytest.fixture(scope="module")
def library():
    made = build.library(print)
    if made is None:
        pytest.skip("no C++ compiler on this machine: the torch network is what runs")
    return made


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def native(request, library, tensors) -> engine.NativeEngine:
    narrow = request.param == "bfloat16"
    if narrow and not library.kokoro_narrow_kind():
        pytest.skip("this CPU has no bfloat16")
    return engine.NativeEngine(library, tensors, narrow, 2)


def style_for(styles, ids):
    return styles[max(0, ids.shape[1] - 3)].unsqueeze(0)


@pytest.mark.parametrize("phonemes, speed", [(WORD, 1.0), (SHORT, 1.0), (LONG, 0.8), (LONG, 1.5)])
def test_it_says_what_the_torch_network_says(native, network, styles, phonemes, speed):
    ids = tokens(phonemes)
    exact = network(ids, style_for(styles, ids), speed, seeded())
    made = native.speak(ids, style_for(styles, ids), speed, seeded())
    assert torch.equal(made.durations, exact.durations)
    assert made.samples.shape == exact.samples.shape
    assert snr(made.samples, exact.samples) > 25


def test_nothing_and_the_longest(native, styles):
    for ids in (torch.tensor([[0, 0]]), torch.full((1, 512), 50).index_fill(1, torch.tensor([0, 511]), 0)):
        made = native.speak(ids, style_for(styles, ids), 1.0, seeded())
        assert len(made.samples) == made.durations.sum() * 600 and torch.isfinite(made.samples).all()


def test_lengths_in_turn_leave_no_trace(native, styles):
    """A long utterance's rows lie behind a short one's in the same memory: they must not be heard."""
    short, long = tokens(SHORT), tokens(LONG)
    first = native.speak(short, style_for(styles, short), 1.0, seeded()).samples
    native.speak(long, style_for(styles, long), 1.0, seeded())
    assert torch.equal(native.speak(short, style_for(styles, short), 1.0, seeded()).samples, first)
    native.rest()
    assert torch.equal(native.speak(short, style_for(styles, short), 1.0, seeded()).samples, first)


def test_the_number_of_threads_changes_nothing(library, tensors, styles):
    ids = tokens(LONG)
    one, three = (
        engine.NativeEngine(library, tensors, False, threads).speak(ids, style_for(styles, ids), 1.0, seeded()).samples
        for threads in (1, 3)
    )
    assert torch.equal(one, three)


def test_another_style_is_heard_at_once(native, styles):
    ids = tokens(SHORT)
    one, other = styles[20].unsqueeze(0), styles[400].unsqueeze(0)
    first = native.speak(ids, one, 1.0, seeded()).samples
    second = native.speak(ids, other, 1.0, seeded()).samples
    assert first.shape != second.shape or not torch.equal(first, second)
    assert torch.equal(native.speak(ids, one, 1.0, seeded()).samples, first)


def test_working_memory_is_bounded(library, native, styles):
    ids = torch.full((1, 512), 50).index_fill(1, torch.tensor([0, 511]), 0)
    native.speak(ids, style_for(styles, ids), 0.5, seeded())
    assert library.kokoro_bytes(native._handle) <= engine.KEPT_MEMORY


def test_a_missing_tensor_is_named(library, tensors):
    partial = {name: tensor for name, tensor in tensors.items() if name != "decoder.generator.conv_post.weight"}
    with pytest.raises(checkpoint.CheckpointError, match="decoder.generator.conv_post.weight"):
        engine.NativeEngine(library, partial, False, 1)


def test_the_compiled_file_is_kept(library, monkeypatch):
    monkeypatch.setattr(build, "_compile", lambda *_: pytest.fail("compiled again"))
    assert build.library() is not None


def test_without_the_library_torch_speaks(monkeypatch, folder, styles, network):
    monkeypatch.setattr(build, "library", lambda progress: None)
    made = engine.load(folder / "model.safetensors", torch.device("cpu"), torch.float32, print)
    assert isinstance(made, engine.TorchEngine)
    ids = tokens(SHORT)
    spoken = made.speak(ids, style_for(styles, ids), 1.0, seeded())
    assert torch.equal(spoken.samples, network(ids, style_for(styles, ids), 1.0, seeded()).samples)


def refuse(*_):
    raise SpeechError("weights_missing", model="ziglang", reason="no network", advice="-")


def test_without_a_compiler_and_a_network_it_says_so_once_a_day(monkeypatch, tmp_path):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "find_compiler", lambda: None)
    monkeypatch.setattr(build.weights, "pip_package", refuse)
    assert build.library() is None
    monkeypatch.setattr(build.weights, "pip_package", lambda *_: pytest.fail("asked again"))
    assert build.library() is None


def test_a_compiler_that_fails_is_survived(monkeypatch, tmp_path):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "FLAGS", ("--no-such-flag",))
    assert build.library() is None
    assert not list(tmp_path.rglob("*.so"))
