"""Speaking: streamed, seeded, bounded, cancelled."""
from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from models.errors import SpeechError
from models.events import AudioChunk, Done, SpeechRequest, Started
from models.families.protocol import Turn
from models.families.voxcpm import speaker as speakers
from models.families.voxcpm.text import instructed, longest, spoken
from models.session import Session
from models.text import plan_segments
from tests.checkpoints.make_voxcpm import VERSIONS
from tests.models.families.voxcpm.conftest import clip_of, spec_of, started

LINE = "Hello there, my friend."
BOOK = " ".join(f"Chapter {number} begins here, and it tells of the sea and of ships." for number in ("one", "two", "three"))
LIGHT = {"inference_timesteps": 2}  # where only the course of things matters
PARTS = "The first part.\n\nThe second part.\n\nThe third part."


def chunks_of(session, request) -> list[np.ndarray]:
    return [event.samples for event in session.stream(request) if isinstance(event, AudioChunk)]


def test_sound_comes_patch_by_patch_and_the_whole_is_their_sum(any_session):
    events = list(any_session.stream(SpeechRequest(LINE, seed=1)))
    started_event = next(event for event in events if isinstance(event, Started))
    chunks = [event.samples for event in events if isinstance(event, AudioChunk)]
    patch = any_session.model._engine.patch_samples
    assert isinstance(events[-1], Done) and len(chunks) >= 4 and {len(chunk) for chunk in chunks} == {patch}
    assert patch / started_event.sample_rate == pytest.approx(0.08 if any_session.spec.id.endswith("0.5b") else 0.16)
    assert all(chunk.dtype == np.float32 and np.abs(chunk).max() <= 1 for chunk in chunks)
    assert np.array_equal(any_session.run(SpeechRequest(LINE, seed=1)).samples, np.concatenate(chunks))


def test_a_seed_reproduces_and_none_does_not(any_session):
    first = any_session.run(SpeechRequest(LINE, seed=5)).samples
    assert np.array_equal(any_session.run(SpeechRequest(LINE, seed=5)).samples, first)
    others = [any_session.run(SpeechRequest(LINE, seed=seed)).samples for seed in (6, None, None)]
    for other in others:
        assert not np.array_equal(other[:1000], first[:1000])
    assert not np.array_equal(others[1][:1000], others[2][:1000])


def test_speaking_leaves_the_global_random_state(any_session):
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    any_session.run(SpeechRequest(LINE, seed=5))
    any_session.run(SpeechRequest(LINE))
    assert torch.equal(torch.get_rng_state(), state) and torch.get_num_threads() == threads


def test_fifty_cancelled_requests_leave_it_sound(any_session, checkpoint):
    """At random moments, in its own voice and in a cloned one."""
    version = any_session.spec.id.removeprefix("voxcpm-")
    rng, clip = random.Random(0), clip_of(1)
    for number in range(50):
        request = SpeechRequest(BOOK, seed=number, clip=clip if number % 2 else None)
        stream = any_session.stream(replace(request, options=LIGHT | {"retry_badcase": rng.choice([0, 0, 2])}))
        for _ in range(rng.randrange(6)):
            next(stream)
        stream.close()
    fresh = started(spec_of(checkpoint(version), version))
    try:
        for request in (SpeechRequest(LINE, seed=2), SpeechRequest(LINE, seed=2, clip=clip)):
            assert np.array_equal(any_session.run(request).samples, fresh.run(replace(request, id="fresh")).samples)
    finally:
        fresh.close()


def test_long_text_is_one_voice_in_many_segments(any_session):
    """What the model chose for the first segment is what the others continue."""
    def speak(model):
        request = SpeechRequest(PARTS, seed=3)
        plan, turn = model.plan(request), Turn()
        manners = []
        for segment in plan.segments:
            for _ in model.speak(segment, plan, request, turn):
                pass
            manners.append(turn.state["manner"])
        return plan, manners

    plan, manners = any_session.ask(speak)
    assert len(plan.segments) == 3
    assert all(manner.continues and manner.voice.transcript == "The first part." for manner in manners)
    assert len(manners[0].voice.patches) >= 4
    assert all(manner.voice is manners[0].voice for manner in manners)


def test_pace_is_set(first):
    usual = len(first.run(SpeechRequest(LINE, seed=4)).samples)
    assert len(first.run(SpeechRequest(LINE, seed=4, speed=2.0)).samples) == pytest.approx(usual / 2, rel=0.02)
    assert len(first.run(SpeechRequest(LINE, seed=4, speed=0.5)).samples) == pytest.approx(usual * 2, rel=0.02)


@pytest.mark.parametrize("options", [{"cfg_value": 1.0}, {"inference_timesteps": 4}, {"temperature": 0.5}])
def test_controls_change_the_sound(first, options):
    usual = first.run(SpeechRequest(LINE, seed=4)).samples
    changed = first.run(SpeechRequest(LINE, seed=4, options=options)).samples
    assert not np.allclose(changed[:2000], usual[:2000], atol=1e-4)
    assert np.array_equal(first.run(SpeechRequest(LINE, seed=4, options=options)).samples, changed)


@pytest.mark.parametrize(("changes", "code", "field"), [
    ({"options": {"cfg_value": 11.0}}, "field_invalid", "options.cfg_value"),
    ({"options": {"inference_timesteps": 0}}, "field_invalid", "options.inference_timesteps"),
    ({"options": {"retry_badcase": -1}}, "field_invalid", "options.retry_badcase"),
    ({"options": {"cloning": "theft"}}, "field_invalid", "options.cloning"),
    ({"options": {"top_k": 3}}, "control_unknown", "options.top_k"),
    ({"options": {"instruction": "a calm old man"}}, "field_invalid", "options.instruction"),
    ({"speed": 3.0}, "field_invalid", "speed"),
    ({"voice": "nobody"}, "voice_unknown", "voice"),
    ({"language": "fr"}, "language_unsupported", "language"),
    ({"text": " "}, "text_empty", "text"),
    ({"text": "🎉🎉"}, "text_unspeakable", "text"),
])
def test_what_can_not_be_spoken_is_said(first, changes, code, field):
    with pytest.raises(SpeechError) as refused:
        first.run(SpeechRequest(**{"text": LINE} | changes))
    assert (refused.value.code, refused.value.field) == (code, field)
    assert refused.value.sentence("zh")


def test_an_instruction_is_read_before_the_text(second):
    usual = second.run(SpeechRequest(LINE, seed=4)).samples
    told = second.run(SpeechRequest(LINE, seed=4, options={"instruction": "a calm old man"})).samples
    assert not np.allclose(told[:2000], usual[:2000], atol=1e-4)
    assert instructed("Hello.", "a (very) calm （old） man") == "(a very calm old man)Hello."
    assert instructed("Hello.", " () ") == "Hello."


def test_digits_are_read_as_words_unless_told_otherwise():
    segment = plan_segments("It costs $20, 也就是20美元。", "auto", ("en", "zh"), 200, 200)[1][0]
    assert not any(char.isdigit() for char in spoken(segment, True))
    assert "20" in spoken(segment, False)


@pytest.fixture(scope="module")
def endless(checkpoint):
    """A model that never says that it is done."""
    session = started(spec_of(checkpoint("1.5", ends=False), "1.5"))
    yield session
    session.close()


def test_a_runaway_is_cut_off_softly(endless):
    text = "Hi."
    speech = endless.run(SpeechRequest(text, seed=1, options=LIGHT))
    engine = endless.model._engine
    bound = endless.ask(lambda model: longest(text, len(engine.tokens(text)), engine.patch_seconds))
    assert len(speech.samples) == bound * engine.patch_samples
    assert speech.metrics.audio_seconds < 2.0 + 0.25 * len(text) + engine.patch_seconds
    assert abs(speech.samples[-1]) < 1e-6 and np.abs(speech.samples[-4000:-2000]).max() > 1e-3


def test_runaway_bounds_grow_with_the_text():
    assert longest("a" * 100, 100, 0.16) * 0.16 == pytest.approx(27, abs=0.2)
    assert longest("一" * 100, 100, 0.16) * 0.16 == pytest.approx(77, abs=0.2)
    assert longest("a" * 100, 5, 0.08) == 40  # the package's own bound, where that is nearer


def test_a_bad_case_is_made_anew_before_any_of_it_is_sent(first, monkeypatch):
    """With so little room that only a lucky attempt ends in it."""
    room = 6
    monkeypatch.setattr(speakers, "longest", lambda *args: room)

    def speak(model, seed, retries=0):
        manner = replace(model._manner(SpeechRequest("", seed=seed), None, False), retries=retries)
        return list(model._speaker.speak(LINE, manner, 0))

    def attempts(model, seed):
        """How many patches each of the first attempts comes to on its own; `room` for a bad case."""
        return [len(speak(model, seed + 7_919 * attempt)) for attempt in range(4)]

    seed, lengths = next((seed, lengths) for seed in range(30)
                         if (lengths := first.ask(lambda model: attempts(model, seed)))[0] == room > min(lengths))
    good = next(number for number, length in enumerate(lengths) if length < room)
    chunks = first.ask(lambda model: speak(model, seed, retries=good))
    assert [len(chunk) > 0 for chunk in chunks] == [False] * (room * good + lengths[good]) + [True] * lengths[good]
    alone = first.ask(lambda model: speak(model, seed + 7_919 * good))
    assert np.array_equal(np.concatenate(chunks), np.concatenate(alone))


def test_without_luck_the_last_attempt_is_cut_off(endless):
    speech = endless.run(SpeechRequest("Hi.", seed=1, options=LIGHT | {"retry_badcase": 2}))
    once = endless.run(SpeechRequest("Hi.", seed=1, options=LIGHT))
    assert len(speech.samples) == len(once.samples) and not np.array_equal(speech.samples, once.samples)


@pytest.mark.parametrize("version", VERSIONS)
def test_text_too_long_for_the_caches_is_split(checkpoint, version):
    session = started(spec_of(checkpoint(version, ends=False, max_length=128), version))
    try:
        text = "The quick brown fox jumps over the lazy dog and runs."
        for clip in (None, clip_of(1, seconds=0.6, words="")) if version == "2" else (None,):
            speech = session.run(SpeechRequest(text, seed=1, clip=clip, options=LIGHT))
            assert speech.metrics.state == "done" and speech.metrics.audio_seconds > 5
        assert session.ask(lambda model: model._engine.base.length) <= 128
    finally:
        session.close()


def test_mem_saver_keeps_no_working_memory_between_requests(checkpoint, first):
    def held(model):
        return sum(stack._network.kv_cache.kv_cache.numel() for stack in (model._engine.base, model._engine.residual))

    saver = started(spec_of(checkpoint("1.5"), "1.5", options={"mem_saver": True}))
    try:
        assert saver.ask(held) == 0 < first.ask(held)
        assert np.array_equal(saver.run(SpeechRequest(LINE, seed=1)).samples, first.run(SpeechRequest(LINE, seed=1)).samples)
        assert saver.ask(held) == 0
    finally:
        saver.close()


@pytest.mark.parametrize("version", ["1.5", "2"])
def test_half_precision_speaks(checkpoint, version):
    session = started(spec_of(checkpoint(version), version, precision="bfloat16"))
    try:
        assert session.report()["precision"] == "bfloat16"
        once = session.run(SpeechRequest(LINE, seed=1, clip=clip_of(1))).samples
        assert np.isfinite(once).all() and np.abs(once).max() > 1e-3
        assert np.array_equal(session.run(SpeechRequest(LINE, seed=1, clip=clip_of(1))).samples, once)
    finally:
        session.close()


def test_unload_leaves_nothing(checkpoint):
    session = started(spec_of(checkpoint("1.5"), "1.5"))
    session.run(SpeechRequest(LINE, clip=clip_of(1)))
    model = session.model
    session.close()
    assert model._engine is None and model.slots()[0].report()["entries"] == 0


def test_warm_up_runs_every_stage(checkpoint):
    for version, stages in (("1.5", []), ("2", ["reference voice"])):
        lines: list[str] = []
        session = Session(spec_of(checkpoint(version), version), watch=lambda session, line: lines.append(line))
        session.start()
        session.wait_ready(120)
        session.close()
        assert lines[2:] == ["text", "reference clip", "own voice", "cloned voice", *stages, "ready", "unloaded"]
