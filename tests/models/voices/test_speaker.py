"""The speaker encoder against its original, which is taken from the package for this alone."""
from __future__ import annotations

import importlib
import sys
import warnings

import librosa
import numpy as np
import pytest
import torch

from models.audio.resample import resample
from models.voices.encoder_weights import PACKAGE
from models.voices.speaker import RATE, level, likeness, mel_filters, speaker_encoder
from models.voices.speakers import count_speakers
from models.weights import pip_package
from tests.models.voices.conftest import LINES


@pytest.fixture(scope="module")
def original():
    folder = str(pip_package(*PACKAGE))
    sys.path.append(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield importlib.import_module("resemblyzer").VoiceEncoder("cpu", verbose=False)
    finally:
        sys.path.remove(folder)


@pytest.fixture(scope="module")
def sound(speech) -> np.ndarray:
    return level(torch.from_numpy(resample(*speech, RATE))).numpy()


def test_mel_powers_are_those_of_the_original(sound):
    assert np.abs(mel_filters() - librosa.filters.mel(sr=RATE, n_fft=400, n_mels=40)).max() < 1e-6
    ours = speaker_encoder().mel(torch.from_numpy(sound)).numpy()
    theirs = librosa.feature.melspectrogram(y=sound, sr=RATE, n_fft=400, hop_length=160, n_mels=40).T
    assert ours.shape == theirs.shape and np.abs(ours - theirs).max() < 1e-5 * theirs.max()


@pytest.mark.parametrize("seconds", [0.4, 1.6, 2.2, 3.0, 7.77, 15.0])
def test_embeddings_are_those_of_the_original(original, sound, seconds):
    part = sound[:round(seconds * RATE)]
    part = part * (10 ** (-25 / 20) / np.sqrt(np.square(part).mean()))
    theirs, parts, _ = original.embed_utterance(part, return_partials=True)
    encoder = speaker_encoder()
    assert np.abs(encoder.embed_parts(part, RATE) - parts).max() < 1e-5
    assert np.abs(encoder.embed(part, RATE) - theirs).max() < 1e-5


def test_loudness_plays_no_part(speech):
    samples, rate = speech
    encoder = speaker_encoder()
    assert likeness(encoder.embed(samples, rate), encoder.embed(samples * 0.05, rate)) > 0.9999


def test_one_voice_is_like_itself_and_unlike_another(joe):
    encoder = speaker_encoder()
    one, two = (encoder.embed(*joe(line)) for line in LINES[:2])
    samples, rate = joe(LINES[0])
    other = encoder.embed(resample(samples, rate, round(rate / 1.35)), rate)
    assert likeness(one, two) > 0.85 > 0.75 > likeness(one, other)


def test_a_gradient_reaches_the_samples(sound):
    samples = torch.from_numpy(sound[:2 * RATE].copy()).requires_grad_()
    encoder = speaker_encoder()
    target = torch.from_numpy(encoder.embed(sound[4 * RATE:6 * RATE], RATE))
    (1 - encoder(level(samples)) @ target).backward()
    step = samples.detach() - 0.05 * samples.grad / samples.grad.abs().max()
    with torch.inference_mode():
        assert encoder(level(step)) @ target > encoder(level(samples)) @ target


def test_speakers_are_counted(joe):
    samples, rate = joe(" ".join(LINES))
    assert count_speakers(samples, rate) == 1
    assert count_speakers(samples[:rate], rate) == 1  # too short to tell
    high = resample(samples, rate, round(rate / 1.35))
    low = resample(samples, rate, round(rate * 1.3))
    assert count_speakers(np.concatenate([samples[:6 * rate], high[:6 * rate]]), rate) == 2
    assert count_speakers(np.concatenate([samples[:6 * rate], high[:6 * rate], low[:6 * rate]]), rate) == 3
