"""A voice fitted to a speaker kokoro has never heard: alike on lines it was not fitted with, and as well understood."""
from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from models.errors import SpeechError
from models.events import SpeechRequest
from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.session import Session
from models.voices.fit import fit, preview, rehearsal
from models.voices.library import Library
from models.voices.measure import traits
from models.voices.reference import check
from models.voices.saved import SHAPE
from models.voices.speaker import likeness, speaker_encoder
from models.voices.stock import speaker_of, stock
from tests.listening import character_error_rate, transcribe, word_error_rate
from tests.recordings import pcm_file

HELD_OUT = (
    "The captain said that they would leave the island before sunset.",
    "My brother bought three red apples and a loaf of bread at the market.",
    "It is often colder in the valley than on top of the hill.",
)
CHINESE, JAPANESE = "今天天气很好，我们一起去公园散步吧。", "今日はとても良い天気ですね。公園に行きましょう。"
STOCK_MAN = "am_michael"
STEPS = 15


@pytest.fixture(scope="module")
def clip(speech):
    return check(pcm_file(*speech)).clip


@pytest.fixture(scope="module")
def steps():
    return []


@pytest.fixture(scope="module")
def fitted(clip, steps):
    return fit(clip, steps.append, seconds=1200.0, steps=STEPS)  # however long a crowded machine takes


@pytest.fixture(scope="module")
def kokoro():
    about = family("kokoro")
    session = Session(ModelSpec("kokoro", "kokoro", options=defaults_of(about.options)))
    session.start()
    session.wait_ready()
    yield session
    session.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Saved voices of these tests lie apart; weights stay where they are."""
    from models.voices import saved
    folder = tmp_path_factory.mktemp("voices")
    library = Library(folder)
    patch = pytest.MonkeyPatch()
    patch.setattr(saved, "_library", lambda _: library)
    yield library
    patch.undo()


@pytest.fixture(scope="module")
def saved(home, clip, fitted):
    return home.save(clip, "Joe", "tester", "Joe", language="en", states={"kokoro": fitted.state()})


@pytest.fixture(scope="module")
def say(kokoro):
    def spoken(text: str, voice: str, language: str = "en") -> np.ndarray:
        return kokoro.run(SpeechRequest(text, voice=voice, language=language, seed=1)).samples

    return spoken


@pytest.fixture(scope="module")
def held_out(say, saved):
    return {voice: [say(line, voice) for line in HELD_OUT] for voice in (f"my:{saved.id}", STOCK_MAN)}


def test_the_blend_is_convex_and_nearer_than_most(clip):
    shares, table = preview(clip)
    assert tuple(table.shape) == SHAPE and 1 <= len(shares) <= 6
    assert all(share > 0 for _, share in shares) and sum(share for _, share in shares) == pytest.approx(1, abs=0.06)
    assert [share for _, share in shares] == sorted((share for _, share in shares), reverse=True)
    known = stock(rehearsal())
    target = torch.from_numpy(speaker_encoder().embed(clip.samples, clip.sample_rate))
    others = known.speakers @ target
    mine = float(speaker_of(rehearsal(), table) @ target)
    assert mine > float(others.median()) + 0.1 and mine >= float(others.max()) - 1e-3


def test_stock_voices_blend_to_themselves():
    known = stock(rehearsal())
    for index in (0, len(known.names) // 2):
        assert known.blend(known.speakers[index])[0] == (known.names[index], pytest.approx(1, abs=0.02))


def test_progress_is_told_and_likeness_rises(fitted, steps):
    assert [step.step for step in steps] == list(range(fitted.steps + 1)) and steps[-1].likeness >= steps[0].likeness
    assert all(later.seconds >= sooner.seconds for sooner, later in zip(steps, steps[1:]))
    assert fitted.likeness > fitted.blend_likeness + 0.1


def test_it_sounds_like_the_speaker_on_lines_it_never_said(clip, fitted, held_out, saved):
    encoder = speaker_encoder()
    target = encoder.embed(clip.samples, clip.sample_rate)
    found = {voice: likeness(encoder.embed(np.concatenate(lines), 24_000), target) for voice, lines in held_out.items()}
    assert fitted.own >= 0.85
    assert found[f"my:{saved.id}"] >= 0.8 > 0.75 > found[STOCK_MAN]  # `bench clone` has the figure of a whole fit


def test_pitch_and_colour_are_the_speakers(clip, held_out, saved):
    """Pitch is led during the fit; the long-term spectrum is not looked at, and comes no nearer by itself."""
    wanted = traits(clip.samples, clip.sample_rate)
    mine, other = (traits(np.concatenate(held_out[voice]), 24_000) for voice in (f"my:{saved.id}", STOCK_MAN))
    assert abs(mine.semitones_from(wanted)) < 2 and abs(mine.spread - wanted.spread) < 1.5
    assert mine.decibels_from(wanted) < other.decibels_from(wanted) + 1.5


def test_it_is_understood_as_well_as_a_stock_voice(held_out, saved):
    errors = {voice: [word_error_rate(text, transcribe(sound, 24_000, "en")) for text, sound in zip(HELD_OUT, lines)]
              for voice, lines in held_out.items()}
    assert np.mean(errors[f"my:{saved.id}"]) <= np.mean(errors[STOCK_MAN]) + 0.001


@pytest.mark.parametrize(("text", "language"), [(CHINESE, "zh"), (JAPANESE, "ja")])
def test_it_speaks_other_languages_as_well_as_a_stock_voice(say, saved, text, language):
    mine, other = (character_error_rate(text, transcribe(say(text, voice, language), 24_000, language))
                   for voice in (f"my:{saved.id}", STOCK_MAN))
    assert mine <= max(other + 0.05, 0.15)


def test_a_long_text_holds_to_its_end(say, saved):
    text = " ".join(HELD_OUT) + " " + " ".join(reversed(HELD_OUT))
    assert word_error_rate(text, transcribe(say(text, f"my:{saved.id}"), 24_000, "en")) < 0.08


def test_a_fit_is_the_same_every_time_and_leaves_random_numbers_alone(clip):
    before = np.random.get_state()[1].copy()
    one, two = (fit(clip, steps=1, seconds=1200.0) for _ in range(2))
    assert torch.equal(one.table, two.table)
    assert np.array_equal(np.random.get_state()[1], before)


def test_stop_keeps_what_there_is(clip):
    stop = threading.Event()
    seen = []

    def watch(progress) -> None:
        seen.append(progress)
        if progress.step == 2:
            stop.set()

    kept = fit(clip, watch, stop, seconds=1200.0)
    assert kept.steps == seen[-1].step == 2 and kept.likeness >= kept.blend_likeness
    assert tuple(kept.table.shape) == SHAPE and torch.isfinite(kept.table).all()


# -- speaking in saved voices


def test_the_saved_voice_is_spoken_bit_for_bit(kokoro, saved, home, fitted, say):
    name = f"my:{saved.id}"
    assert torch.equal(home.state(saved.id, "tester", "kokoro")["style"], fitted.table)
    assert np.array_equal(say("Good morning.", name), say("Good morning.", name))
    mixed = say("Good morning.", f"{name}(3)+af_heart(1)")
    assert len(mixed) and not np.array_equal(mixed[:1000], say("Good morning.", name)[:1000])


def test_a_voice_fitted_anew_is_heard_at_once(home, clip, fitted, say):
    again = home.save(clip, "Changing", "tester", "Joe", states={"kokoro": {"style": fitted.table}})
    first = say("Good morning.", f"my:{again.id}")
    home.put_state(again.id, "tester", "kokoro", {"style": fitted.table * 0.5})
    assert not np.array_equal(first, say("Good morning.", f"my:{again.id}"))


@pytest.mark.parametrize("state", [
    None, {"style": torch.zeros(3)}, {"style": torch.full(SHAPE, float("nan"))}, {"style": torch.full(SHAPE, 1e9)},
    {"other": torch.zeros(SHAPE)},
])
def test_a_voice_without_a_sound_state_is_refused(home, clip, say, state):
    bare = home.save(clip, f"Bare {id(state)}", "tester", "Joe", states={"kokoro": state} if state else {})
    with pytest.raises(SpeechError) as caught:
        say("Good morning.", f"my:{bare.id}")
    assert (caught.value.code, caught.value.field) == ("saved_voice_unfitted", "voice")


@pytest.mark.parametrize("name", ["my:", "my:nobody", "my:0123456789abcdef", "my:../../etc"])
def test_voices_that_are_not_there(say, home, name):
    with pytest.raises(SpeechError) as caught:
        say("Good morning.", name)
    assert caught.value.status in (404, 422) and caught.value.field == "voice"
