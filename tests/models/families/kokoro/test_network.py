"""The torch network against the official one on the same weights and the same noise."""
from __future__ import annotations

import copy

import pytest
import torch

from models.families.kokoro import checkpoint
from tests.models.families.kokoro.conftest import LONG, SHORT, seeded, snr, tokens
from tests.models.families.kokoro.official import official_model, official_speech


@pytest.fixture(scope="module")
def official(tensors, tmp_path_factory):
    return official_model(tensors, tmp_path_factory.mktemp("official"))


@pytest.mark.parametrize("phonemes, speed", [(SHORT, 1.0), (LONG, 1.3)])
def test_in_float_it_says_the_same(network, official, styles, phonemes, speed):
    ids = tokens(phonemes)
    style = styles[ids.shape[1] - 3].unsqueeze(0)
    ours = network(ids, style, speed, seeded())
    theirs, durations = official_speech(official[0], ids, style, speed, seeded())
    assert torch.equal(ours.durations, durations) and ours.samples.shape == theirs.shape
    # phases near half a turn flip on the last bit of a float and are heard in the noise: 30 dB, not 100
    assert snr(ours.samples, theirs) > 30


def test_in_double_it_is_the_same(network, official, styles, monkeypatch):
    """With enough digits nothing flips."""
    ids = tokens(SHORT)
    style = styles[ids.shape[1] - 3].unsqueeze(0).double()
    model, ours = copy.deepcopy(official[0]).double(), copy.deepcopy(network).double()
    model.decoder.generator.stft.window = model.decoder.generator.stft.window.double()
    monkeypatch.setattr(torch.Tensor, "float", lambda self: self)  # our convolutions answer in float32 otherwise
    torch.set_default_dtype(torch.float64)
    try:
        made = ours(ids, style, 1.0, seeded())
        theirs, durations = official_speech(model, ids, style, 1.0, seeded())
    finally:
        torch.set_default_dtype(torch.float32)
    assert made.samples.dtype == torch.float64
    assert torch.equal(made.durations, durations)
    assert snr(made.samples, theirs) > 60  # what is left: weight norm unfolded and folded again in float32


def test_the_published_checkpoint_form_reads_back(official, tensors, network):
    read = checkpoint.read(official[1])
    checkpoint.check(read, network.state_dict())
    assert all(torch.allclose(read[name], tensors[name], atol=1e-6) for name in tensors)


def test_a_seed_reproduces_bit_for_bit(network, styles):
    ids = tokens(SHORT)
    style = styles[ids.shape[1] - 3].unsqueeze(0)
    first, again, other = (network(ids, style, 1.0, seeded(seed)).samples for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)
