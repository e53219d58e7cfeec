"""The C++ network against the torch one in float32, which the official one vouches for."""
from __future__ import annotations

import ctypes
import platform

import numpy as np
import pytest
import torch

from models.errors import SpeechError
from models.families.kokoro import engine
from models.families.device import cpu_flags
from models.families.kokoro.engine import Noise
from models.families.kokoro.native import build
from models.families.kokoro.native.build import find_compiler
from models.families.kokoro.native.engine import KEPT_MEMORY, NativeEngine
from models.families.kokoro.torch_engine import TorchEngine
from models.gaps import Gap
from tests.models.families.kokoro.conftest import LONG, SHORT, seeded, snr, tokens

WORD = "hˈaɪ"
AMX = ("-mno-amx-tile", "-mno-amx-int8", "-mno-amx-bf16")


@pytest.fixture(scope="module")
def library():
    made = build.library(print)
    if made is None:
        pytest.skip("no C++ compiler on this machine: the torch network is what runs")
    return made


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def native(request, library, tensors) -> NativeEngine:
    narrow = request.param == "bfloat16"
    if narrow and not library.kokoro_narrow_kind():
        pytest.skip("this CPU has no bfloat16")
    return NativeEngine(library, tensors, narrow, 2)


@pytest.fixture(scope="module")
def quickest(library, tensors) -> NativeEngine:
    """For long utterances: in narrow numbers where the CPU has them."""
    return NativeEngine(library, tensors, bool(library.kokoro_narrow_kind()), 2)


def say(speaker, styles, phonemes: str, speed: float = 1.0, row: int | None = None,
        gap: Gap | None = None) -> tuple[np.ndarray, np.ndarray]:
    ids = tokens(phonemes)[0].tolist()
    style = styles[max(0, len(ids) - 3) if row is None else row].numpy()
    return speaker.speak(ids, style, speed, Noise(5), gap)


def wanted(fill) -> Gap:
    """A gap that is filled wherever it can be."""
    gap = Gap(fill)
    gap.wanted.value = 1
    return gap


def same(some, others) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(some, others, strict=True))


LONGEST = "a" * 510


@pytest.mark.parametrize("phonemes, speed", [(WORD, 1.0), (SHORT, 1.0), (LONG, 0.8), (LONG, 1.5)])
def test_it_says_what_the_torch_network_says(native, network, styles, phonemes, speed):
    ids = tokens(phonemes)
    exact = network(ids, styles[ids.shape[1] - 3].unsqueeze(0), speed, seeded())
    samples, durations = say(native, styles, phonemes, speed)
    assert np.array_equal(durations, exact.durations.numpy())
    assert samples.shape == exact.samples.shape
    assert snr(torch.from_numpy(samples), exact.samples) > 25


@pytest.mark.parametrize("phonemes", ["", LONGEST])
def test_nothing_and_the_longest(quickest, styles, phonemes):
    samples, durations = say(quickest, styles, phonemes)
    assert len(samples) == durations.sum() * 600 and np.isfinite(samples).all()


def test_lengths_in_turn_leave_no_trace(native, styles):
    """A long utterance's rows lie behind a short one's in the same memory: they must not be heard."""
    first = say(native, styles, SHORT)[0]
    say(native, styles, LONG)
    assert np.array_equal(say(native, styles, SHORT)[0], first)
    native.rest()
    assert np.array_equal(say(native, styles, SHORT)[0], first)


def test_the_number_of_threads_changes_nothing(library, tensors, styles):
    one, three = (say(NativeEngine(library, tensors, False, threads), styles, LONG)[0] for threads in (1, 3))
    assert np.array_equal(one, three)


def test_another_style_is_heard_at_once(native, styles):
    first, second = say(native, styles, SHORT, row=20)[0], say(native, styles, SHORT, row=400)[0]
    assert first.shape != second.shape or not np.array_equal(first, second)
    assert np.array_equal(say(native, styles, SHORT, row=20)[0], first)


def test_another_utterance_in_the_midst_of_one_changes_neither(quickest, styles):
    """In every fourth place where it may be, in another voice and at another speed: longer than the one around it, too."""
    for outer, inner, every in ((LONG, WORD, 4), (WORD, SHORT, 12)):
        alone, other = say(quickest, styles, outer, row=40), say(quickest, styles, inner, 1.3, row=400)
        places, others = [], []

        def fill():
            places.append(len(places))
            if len(places) % every == 0:
                others.append(say(quickest, styles, inner, 1.3, row=400, gap=wanted(lambda: pytest.fail("three deep"))))

        assert same(say(quickest, styles, outer, row=40, gap=wanted(fill)), alone)
        assert len(others) == len(places) // every > 5 and all(same(one, other) for one in others)


def test_it_is_left_only_if_that_is_wanted(native, styles):
    say(native, styles, WORD, gap=Gap(lambda: pytest.fail("nobody wanted it")))


def test_what_is_raised_in_its_midst_ends_it_and_leaves_it_sound(native, styles):
    alone, places = say(native, styles, SHORT), []

    def fill():
        places.append(say(native, styles, WORD, row=400))
        if len(places) == 3:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        say(native, styles, SHORT, gap=wanted(fill))
    assert len(places) == 3 and same(say(native, styles, SHORT), alone)


def test_working_memory_is_bounded(library, quickest, styles):
    say(quickest, styles, LONGEST)
    assert library.kokoro_bytes(quickest._handle) <= KEPT_MEMORY

    def once():
        gap.wanted.value = 0
        say(quickest, styles, LONG)

    gap = wanted(once)
    say(quickest, styles, LONGEST, gap=gap)
    assert not gap.wanted.value and library.kokoro_bytes(quickest._handle) <= KEPT_MEMORY


def test_a_style_of_another_size_is_refused(native):
    with pytest.raises(ValueError, match="256 numbers, not 3"):
        native.speak([0, 50, 0], np.zeros(3, np.float32), 1.0, Noise(1))


def test_all_functions_are_declared(library):
    """ctypes would pass 64-bit pointers as 32-bit integers to a function it knows nothing of."""
    names = [name for name in dir(library) if name.startswith("kokoro_")]
    assert len(names) == 9 and all(getattr(library, name).argtypes is not None for name in names)
    assert isinstance(library, ctypes.CDLL)


@pytest.mark.parametrize("without, narrow", [(("-mno-avx512f",), False), (AMX, True)], ids=["avx2", "dot products"])
def test_other_cpus(tensors, styles, network, monkeypatch, tmp_path, without, narrow):
    """The same source for a CPU with less than this one: narrower registers, or bfloat16 without matrix units."""
    if find_compiler() is None or platform.machine() != "x86_64" or "avx2" not in cpu_flags():
        pytest.skip("needs a compiler and an x86 CPU")
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, *without))
    made = build.library()
    assert made is not None
    if narrow and made.kokoro_narrow_kind() != 1:
        pytest.skip("this CPU has no bfloat16 dot products")
    ids = tokens(SHORT)
    exact = network(ids, styles[ids.shape[1] - 3].unsqueeze(0), 1.0, seeded())
    samples, durations = say(NativeEngine(made, tensors, narrow, 2), styles, SHORT)
    assert np.array_equal(durations, exact.durations.numpy())
    assert snr(torch.from_numpy(samples), exact.samples) > 25


def test_a_missing_tensor_is_named(library, tensors):
    partial = {name: tensor for name, tensor in tensors.items() if name != "decoder.generator.conv_post.weight"}
    with pytest.raises(ValueError, match="decoder.generator.conv_post.weight"):
        NativeEngine(library, partial, False, 1)


def test_the_compiled_file_is_kept(library, monkeypatch):
    monkeypatch.setattr(build, "_compile", lambda *_: pytest.fail("compiled again"))
    assert build.library() is not None


def test_without_the_library_torch_speaks(monkeypatch, folder, styles, network):
    monkeypatch.setattr(build, "library", lambda progress: None)
    made = engine.load(folder / "model.safetensors", "cpu", "float32", print)
    assert isinstance(made, TorchEngine)
    ids = tokens(SHORT)
    exact = network(ids, styles[ids.shape[1] - 3].unsqueeze(0), 1.0, seeded())
    assert np.array_equal(say(made, styles, SHORT)[0], exact.samples.numpy())


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
