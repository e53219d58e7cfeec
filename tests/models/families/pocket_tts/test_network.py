from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file

from models.families.pocket_tts.checkpoint import find
from models.families.pocket_tts.loading import load_official
from models.families.pocket_tts.network import FEWEST_FRAMES, Network, Settings
from models.families.pocket_tts.states import from_flat
from tests.checkpoints import make_pocket_tts
from tests.models.families.pocket_tts.conftest import TEXT


@pytest.fixture(scope="module")
def network(pocket, spec_of) -> Iterator[Network]:
    network = Network(load_official(find(spec_of(pocket)), "pocket"), "cpu", "float32")
    yield network
    network.close()


@pytest.fixture(scope="module")
def alba(pocket, network):
    return from_flat(load_file(pocket / "embeddings" / "alba.safetensors"), network.blank())


def spoken(network, voice, text=TEXT, seed=0, **settings) -> list[np.ndarray]:
    settings = Settings(**({"temperature": 0.3, "eos_threshold": 0.0} | settings))
    return list(network.speak(text, voice, settings, torch.Generator().manual_seed(seed)))


def test_equals_the_official_package(network, alba, official, pocket):
    state = official.get_state_for_audio_prompt(pocket / "embeddings" / "alba.safetensors")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        theirs = official.generate_audio(state, TEXT, max_tokens=1000).numpy()
    ours = np.concatenate(spoken(network, alba, seed=5, eos_threshold=official.eos_threshold))
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() < 1e-5 * np.abs(theirs).max()


def test_a_clip_gives_the_official_state(network, official, clip_of):
    clip = clip_of(1)
    theirs = official.get_state_for_audio_prompt(torch.from_numpy(clip.samples)[None])
    ours = network.encode(clip.samples, clip.sample_rate)
    assert ours.caches.keys() == theirs.keys()
    for name, cache in ours.caches.items():
        assert ours.length == int(theirs[name]["offset"])
        torch.testing.assert_close(cache, theirs[name]["cache"])


def test_chunks_leave_as_frames_are_made(network, alba):
    chunks = spoken(network, alba)
    assert [len(chunk) for chunk in chunks[:4]] == [1920, 1920, 3840, 3840]
    assert all(chunk.dtype == np.float32 and np.abs(chunk).max() <= 1 for chunk in chunks)


def test_a_speech_never_changes_the_voice_it_uses(network, alba):
    before = {name: cache.clone() for name, cache in alba.caches.items()}
    first = spoken(network, alba)
    for name, cache in alba.caches.items():
        assert torch.equal(cache, before[name])
    assert np.array_equal(np.concatenate(first), np.concatenate(spoken(network, alba)))


def test_kept_buffers_and_fresh_ones_sound_the_same(network, alba, pocket, spec_of):
    spoken(network, alba, text="Something else, and much longer than the other text.", seed=9)
    fresh = Network(load_official(find(spec_of(pocket)), "pocket"), "cpu", "float32", keep=False)
    assert np.array_equal(np.concatenate(spoken(network, alba)), np.concatenate(spoken(fresh, alba)))
    fresh.close()
    assert not fresh._spare and network._spare.keys() == {"flow", "decoder"}


def test_a_broken_off_speech_leaves_no_trace(network, alba):
    whole = np.concatenate(spoken(network, alba))
    pieces = network.speak(TEXT, alba, Settings(0.3, 0.0), torch.Generator().manual_seed(4))
    next(pieces), next(pieces), next(pieces)
    overlapping = np.concatenate(spoken(network, alba))
    pieces.close()
    assert np.array_equal(whole, overlapping)
    assert np.array_equal(whole, np.concatenate(spoken(network, alba)))


def test_speech_stops_at_the_bound_and_at_the_end_signal(network, alba):
    runaway = sum(map(len, spoken(network, alba, eos_threshold=20.0)))
    tokens = network.tokens(network.prepared(TEXT)[0])
    assert runaway == network.longest(tokens) * network.frame_size
    assert runaway / network.sample_rate < tokens / 3 + 2.1
    ended = sum(map(len, spoken(network, alba, eos_threshold=-20.0, frames_after_eos=3)))
    assert ended == (FEWEST_FRAMES + 3) * network.frame_size


def test_settings_are_heard(network, alba):
    base = np.concatenate(spoken(network, alba))
    for change in ({"temperature": 0.9}, {"decode_steps": 3}, {"noise_clamp": 0.2}, {"seed": 1}):
        assert not np.array_equal(base, np.concatenate(spoken(network, alba, **change))), change
    cold = np.concatenate(spoken(network, alba, temperature=0.0))
    assert np.array_equal(cold, np.concatenate(spoken(network, alba, temperature=0.0, seed=7)))


def test_half_precision_stays_close(pocket, spec_of, clip_of):
    samples = clip_of(2).samples
    outputs = []
    for precision in ("float32", "bfloat16"):
        network = Network(load_official(find(spec_of(pocket)), "pocket"), "cpu", precision)
        voice = network.encode(samples, 24000)
        assert all(cache.dtype == getattr(torch, precision) for cache in voice.caches.values())
        chunks = network.speak(TEXT, voice, Settings(0.0, 20.0), torch.Generator())
        outputs.append(np.concatenate([next(chunks) for _ in range(6)]))
    exact, half = outputs
    assert np.abs(exact - half).max() < 0.05 * np.abs(exact).max()


def test_other_sampler_heads_speak_as_the_package_does(tmp_path, spec_of, clip_of):
    for kind in ("pointwise", "flow_matching"):
        config = yaml.safe_load(yaml.safe_dump(make_pocket_tts.TINY))
        config["flow_lm"]["flow"]["type"] = kind
        config["flow_lm"]["z_dim"] = 16
        config["flow_lm"]["insert_bos_before_voice"] = False
        path = make_pocket_tts.make(tmp_path / kind, config, seed=3)
        ours, theirs = Network(load_official(find(spec_of(path)), "x"), "cpu", "float32"), make_pocket_tts.official(path)
        samples = clip_of(1).samples
        with torch.random.fork_rng(devices=[]):
            state = theirs.get_state_for_audio_prompt(torch.from_numpy(samples)[None])
            torch.manual_seed(2)
            expected = theirs.generate_audio(state, "Hi you.").numpy()
        settings = Settings(theirs.temp, theirs.eos_threshold)
        found = np.concatenate(list(ours.speak("Hi you.", ours.encode(samples, 24000), settings,
                                               torch.Generator().manual_seed(2))))
        assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max(), kind
