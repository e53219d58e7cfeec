"""An utterance whose beginning is read before the rest of it."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.families.vits.frames import AHEAD, Lead, lead
from models.families.vits.network import FIRST_WINDOW
from tests.models.families.vits.test_network import NORMAL, WHOLE, some_ids

LED = Lead(50, 74)


class Watched:
    """An encoder that notes how many ids each run reads."""

    def __init__(self, session):
        self._session, self.read = session, []

    def run(self, outputs, feed, options):
        self.read.append(feed["input"].shape[1])
        return self._session.run(outputs, feed, options)


@pytest.fixture
def encoder(network, monkeypatch) -> Watched:
    watched = Watched(network._encoder)
    monkeypatch.setattr(network, "_encoder", watched)
    return watched


def chunks(network, voice, lead, seed=0, **windows):
    speaker = 1 if voice.speakers else None
    return network.speak(some_ids(voice), NORMAL, speaker, np.random.default_rng(seed), lead=lead, **windows)


def spoken(*given, **windows) -> np.ndarray:
    return np.concatenate(list(chunks(*given, **windows)))


@pytest.mark.parametrize(("first", "largest"), [(1, 1), (5, 9), (12, 64), (24, 200)])
def test_windows_equal_the_whole(network, voice, first, largest):
    """Also those heard before the rest was read: nothing is cut in what is heard."""
    whole = spoken(network, voice, LED, first=WHOLE, largest=WHOLE)
    windowed = spoken(network, voice, LED, first=first, largest=largest)
    assert windowed.shape == whole.shape
    assert np.abs(windowed - whole).max() < 1e-5


def test_less_reach_than_the_stages_have_would_be_heard(network, voice, monkeypatch):
    alone = replace(LED, read=LED.kept)  # nothing behind the seam that might be as it is in the whole
    whole = spoken(network, voice, alone, first=WHOLE, largest=WHOLE)
    monkeypatch.setattr(network, "reach", 2)
    assert np.abs(spoken(network, voice, alone, first=4, largest=4)[:len(whole)] - whole).max() > 1e-5


def test_the_beginning_is_heard_before_the_rest_is_read(network, voice, encoder):
    sound = chunks(network, voice, LED)
    assert len(next(sound)) == FIRST_WINDOW * network.hop
    assert encoder.read == [LED.read]
    for _ in sound:
        pass
    assert encoder.read == [LED.read, len(some_ids(voice))]


def test_the_rest_is_said_as_without_a_lead(network, voice):
    """To the sample where an encoder looks no further than the lead does, as the random one; else much alike."""
    plain, led = spoken(network, voice, None), spoken(network, voice, LED)
    if voice.speakers:
        assert np.array_equal(led, plain)
    assert abs(len(plain) - len(led)) < 0.15 * len(plain)
    assert 0.8 < np.sqrt(np.mean(led**2)) / np.sqrt(np.mean(plain**2)) < 1.25


def test_a_seed_reproduces_to_the_bit(network, voice):
    assert np.array_equal(spoken(network, voice, LED, 3), spoken(network, voice, LED, 3))


def test_a_voice_that_does_not_tell_durations_is_read_whole(network, voice, encoder, monkeypatch):
    plain = spoken(network, voice, None)
    monkeypatch.setattr(network, "layout", replace(network.layout, durations=""))
    encoder.read.clear()
    assert np.array_equal(spoken(network, voice, LED), plain)
    assert encoder.read == [len(some_ids(voice))]


SPACE = 3


@given(words=st.lists(st.integers(1, 12), min_size=1, max_size=80), length=st.floats(0.5, 2.0))
def test_a_lead_ends_between_two_words_and_is_worth_it(words, length):
    ids = [1, 0]
    for letters in words:
        ids += [9, 0] * letters + [SPACE, 0]
    ids.append(2)
    found = lead(ids, SPACE, length)
    if found is None:
        return
    assert ids[found.kept - 2] == SPACE and ids[found.kept - 1] == 0
    assert found.read == found.kept + AHEAD < len(ids)


def test_longer_texts_and_slower_speech_have_shorter_leads():
    ids = [9, 0] * 400
    assert lead(ids[:100], SPACE, 1.0) is None
    assert lead(ids, None, 2.0).kept < lead(ids, None, 1.0).kept < lead(ids, None, 0.5).kept


def test_a_voice_that_cannot_be_decoded_in_windows_speaks_whole(network, voice, monkeypatch):
    """Also with a lead asked for: some graphs mix all frames."""
    plain = spoken(network, voice, None, first=WHOLE, largest=WHOLE)
    monkeypatch.setattr(network, "reach", None)
    pieces = list(chunks(network, voice, LED))
    assert len(pieces) == 1 and np.array_equal(pieces[0], plain)
