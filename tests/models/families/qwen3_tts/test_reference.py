"""Reference clips: encoded once, kept by content, exported and brought back bit for bit."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from models.errors import SpeechError
from models.events import SpeechRequest
from models.families.protocol import Turn
from models.voices.clip import Clip

TEXT = "Hello there, my dear old friend."
BRIEF = {"max_seconds": 1.5}


class Counted:
    """Counts runs of both real encoders."""

    def __init__(self, session):
        self.speaker = self.codec = 0
        model = session.model._official.model
        session.ask(lambda _: (model.speaker_encoder.register_forward_hook(self._one("speaker")),
                               model.speech_tokenizer.model.encoder.encoder.register_forward_hook(self._one("codec"))))

    def _one(self, name):
        return lambda *_: setattr(self, name, getattr(self, name) + 1)

    @property
    def both(self) -> tuple[int, int]:
        return self.speaker, self.codec


def say(session, clip, seed=3, **options) -> np.ndarray:
    return session.run(SpeechRequest(TEXT, seed=seed, clip=clip, options=BRIEF | options)).samples


def test_a_second_request_encodes_nothing(start, checkpoint, clip_of):
    session = start(checkpoint("base"), voice_prompt_cache_slots=2)
    counted = Counted(session)
    first = session.run(SpeechRequest(TEXT, seed=3, clip=clip_of(1), options=BRIEF))
    assert counted.both == (1, 1) and first.metrics.caches == {"voice_prompt_cache": "miss"}
    assert first.metrics.voice_prepare > 0
    same = clip_of(1)  # other objects, equal content
    again = session.run(SpeechRequest(TEXT, seed=3, clip=Clip(same.samples.copy(), same.sample_rate, same.transcript),
                                      options=BRIEF))
    assert counted.both == (1, 1) and again.metrics.caches == {"voice_prompt_cache": "hit"}
    assert again.metrics.voice_prepare == 0 and np.array_equal(first.samples, again.samples)
    say(session, clip_of(1), timbre_only=True)  # the other way to clone needs nothing new
    assert counted.both == (1, 1)
    say(session, replace(clip_of(1), transcript="other words of about that length"))
    assert counted.both == (2, 2)
    report = session.report()["caches"][0]
    assert report["entries"] == 2 and report["hits"] == 2 and report["misses"] == 2 and report["bytes"] > 10_000


def test_slots_are_bounded_and_none_is_fine(start, checkpoint, clip_of):
    session = start(checkpoint("base"))
    for seed in (1, 2, 1):
        say(session, clip_of(seed))
    report = session.report()["caches"][0]
    assert (report["entries"], report["evictions"], report["hits"]) == (1, 2, 0)
    none = start(checkpoint("base"), voice_prompt_cache_slots=0)
    assert np.array_equal(say(none, clip_of(1)), say(session, clip_of(1)))


def test_a_list_of_requests_speaks_in_each_ones_own_voice(start, checkpoint, clip_of):
    session = start(checkpoint("base"), voice_prompt_cache_slots=2)
    clips = [clip_of(seed) for seed in (1, 2, 3)]
    alone = [say(session, clip) for clip in clips]
    assert not any(np.array_equal(one, other) for one, other in ((alone[0], alone[1]), (alone[1], alone[2])))
    streams = [session.stream(SpeechRequest(TEXT, seed=3, clip=clip, options=BRIEF)) for clip in clips]
    for expected, stream in zip(alone, streams):
        heard = np.concatenate([event.samples for event in stream if hasattr(event, "samples")])
        assert np.array_equal(heard, expected)


def test_words_and_manner_of_the_clip_count_only_where_they_should(sessions, clip_of):
    session = sessions["base"]
    clip, wordless = clip_of(1), clip_of(1, words="")
    assert not np.array_equal(say(session, clip), say(session, wordless))
    assert np.array_equal(say(session, clip, timbre_only=True), say(session, wordless))
    impossible = clip_of(1, words="far too many words for so short a clip " * 4)
    assert np.array_equal(say(session, impossible), say(session, wordless))


def test_export_and_import_are_bit_equal_across_sessions(start, checkpoint, clip_of):
    first, second = start(checkpoint("base")), start(checkpoint("base"))
    for clip in (clip_of(4), clip_of(4, words="")):
        expected = say(first, clip)
        exported = first.ask(lambda model: model.export_voice(clip))
        stored = load(save(exported))
        counted = Counted(second)
        second.ask(lambda model: model.import_voice(clip, stored))
        assert np.array_equal(say(second, clip), expected) and counted.both == (0, 0)
        back = second.ask(lambda model: model.export_voice(clip))
        assert back.keys() == exported.keys() and all(torch.equal(back[name], exported[name]) for name in back)


def test_another_models_state_is_refused(start, checkpoint, clip_of):
    clip = clip_of(1)
    session, other = start(checkpoint("base")), start(checkpoint("base", seed=9))
    state = other.ask(lambda model: model.export_voice(clip))
    right = session.ask(lambda model: model.export_voice(clip))
    wrong = [state, {}, {**right, "embedding": torch.zeros(3)}, {**right, "codes": torch.zeros(3, 4)},
             {"mark": right["mark"]}]
    for tensors in wrong:
        with pytest.raises(ValueError, match="voice state"):
            session.ask(lambda model, tensors=tensors: model.import_voice(clip, tensors))


def test_prepared_ahead_is_a_hit(start, checkpoint, clip_of):
    session, turn = start(checkpoint("base")), Turn()
    session.ask(lambda model: model.prepare_voice(clip_of(6), turn))
    assert turn.caches == {"voice_prompt_cache": "miss"} and turn.voice_prepare > 0
    assert session.run(SpeechRequest(TEXT, clip=clip_of(6), options=BRIEF)).metrics.caches == {"voice_prompt_cache": "hit"}


@pytest.mark.parametrize(("changes", "code"), [
    ({"seconds": 0.05}, "clip_too_short"), ({"level": 0.0}, "clip_silent"), ({"seconds": 61.0}, "clip_too_long")])
def test_clips_that_can_not_be_used_are_told_apart(sessions, clip_of, changes, code):
    with pytest.raises(SpeechError) as caught:
        say(sessions["base"], clip_of(1, **changes))
    assert (caught.value.code, caught.value.field) == (code, "clip")


def test_broken_numbers_in_a_clip_are_silence(sessions, clip_of):
    clip = clip_of(1)
    holes = clip.samples.copy()
    holes[1000:1100] = np.nan
    assert np.isfinite(say(sessions["base"], Clip(holes, 24000, clip.transcript))).all()


def test_a_clip_of_another_rate_is_the_same_voice(sessions, clip_of):
    from models.audio.resample import resample

    clip = clip_of(1)
    wide = Clip(resample(clip.samples, 24000, 48000), 48000, clip.transcript)
    model = sessions["base"].model
    codes = [sessions["base"].ask(lambda _, one=one: model.export_voice(one))["codes"] for one in (clip, wide)]
    assert codes[0].shape == codes[1].shape and (codes[0] == codes[1]).float().mean() > 0.7


def test_a_long_clip_without_words_is_cut_not_refused(sessions, clip_of):
    assert len(say(sessions["base"], clip_of(1, seconds=61.0, words="")))


def test_the_answer_begins_after_the_clip(sessions, clip_of):
    """No sample of the clip's own frames is in the answer: it has as many frames as the talker made."""
    session, made = sessions["base"], []
    handle = session.ask(lambda model: model._official.model.talker.code_predictor.lm_head[0].register_forward_hook(
        lambda *_: made.append(1)))
    samples = say(session, clip_of(1))
    handle.remove()
    assert len(samples) == len(made) * 1920
