"""Cloned voices: encoded and prefilled once, kept apart, kept on disk."""
from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from models.errors import SpeechError
from models.events import AudioChunk, SpeechRequest
from models.families.protocol import Turn
from models.voices.clip import Clip
from tests.models.families.voxcpm.conftest import WORDS, clip_of, spec_of, started

LINE = "Hello there, my friend."


@contextmanager
def counted(session):
    """Counts the audio encoder's calls, the patches read by the local encoder, and positions computed."""
    engine = session.model._engine
    seen = {"clips": 0, "patches": 0}
    before = engine.base.positions_run, engine.residual.positions_run
    hooks = [
        engine.network.audio_vae.encoder.register_forward_hook(lambda *args: seen.update(clips=seen["clips"] + 1)),
        engine.network.feat_encoder.register_forward_hook(
            lambda layer, args, out: seen.update(patches=seen["patches"] + args[0].shape[1])),
    ]
    yield seen
    [hook.remove() for hook in hooks]
    seen["base"], seen["residual"] = (after - then for after, then in
                                      zip((engine.base.positions_run, engine.residual.positions_run), before))


def patches_of(session, speech) -> int:
    return round(len(speech.samples) / session.model._engine.patch_samples)


def test_a_second_request_encodes_nothing_and_prefills_only_what_is_new(any_session):
    """The saving: of the cached voice no position is computed again, and no patch of the clip is read again."""
    clip = clip_of(7)
    with counted(any_session) as cold:
        once = any_session.run(SpeechRequest(LINE, seed=1, clip=clip))
    with counted(any_session) as warm:
        again = any_session.run(SpeechRequest(LINE, seed=1, clip=clip))
    assert (once.metrics.caches, again.metrics.caches) == ({"prompt_cache": "miss"}, {"prompt_cache": "hit"})
    assert np.array_equal(once.samples, again.samples)
    second, made = any_session.model._second, patches_of(any_session, again)
    assert cold["clips"] == (2 if second else 1) and warm["clips"] == 0
    assert warm["patches"] == made  # those it made itself
    state = any_session.model._voices.get(any_session.model._key(clip), lambda: pytest.fail("not in the cache"))[0]
    assert state.head + len(state.tokens) == state.base.shape[3] > len(WORDS) * 0.5
    assert cold["base"] - warm["base"] == cold["residual"] - warm["residual"] == state.base.shape[3]
    # read anew: the text, and the clip's patches that come after it; then one position a made patch but the last
    assert warm["base"] == len(LINE) + 1 + len(state.patches) + made - 1


def test_voxcpm_2_reads_only_the_text_in_a_reference_voice(second):
    request = SpeechRequest(LINE, seed=1, clip=clip_of(7), options={"cloning": "reference"})
    second.run(request)
    with counted(second) as warm:
        made = patches_of(second, second.run(replace(request, id="again")))
    assert warm["base"] == len(LINE) + 2 + made - 1  # letters with the space before them, audio start
    assert warm["patches"] == made and warm["clips"] == 0


def test_kept_and_not_kept_voices_sound_the_same(any_session, checkpoint):
    version = any_session.spec.id.removeprefix("voxcpm-")
    forgetful = started(spec_of(checkpoint(version), version, options={"prompt_cache_slots": 0}))
    try:
        for seed in (1, 2):
            request = SpeechRequest(LINE, seed=seed, clip=clip_of(3))
            kept = any_session.run(request)
            assert np.array_equal(forgetful.run(replace(request, id="f")).samples, kept.samples)
        assert kept.metrics.caches == {"prompt_cache": "hit"}
        assert forgetful.report()["caches"][0]["hits"] == 0
    finally:
        forgetful.close()


def test_a_list_of_requests_speaks_in_each_ones_own_voice(any_session):
    clips = [clip_of(1), clip_of(2), None]
    alone = [any_session.run(SpeechRequest(LINE, seed=9, clip=clip)).samples for clip in clips]
    assert not any(np.array_equal(one[:500], other[:500]) for one, other in zip(alone, alone[1:]))
    streams = [any_session.stream(SpeechRequest(LINE, seed=9, clip=clips[number % 3])) for number in range(6)]
    heads = [next(stream) for stream in streams]  # all are queued before the first is spoken
    assert len(heads) == 6
    for number, stream in enumerate(streams):
        spoken = np.concatenate([event.samples for event in stream if isinstance(event, AudioChunk)])
        assert np.array_equal(spoken, alone[number % 3])


def test_a_clip_that_changed_is_another_voice(first):
    clip = clip_of(4)
    first.run(SpeechRequest(LINE, seed=1, clip=clip))
    for changed in (Clip(clip.samples * np.float32(0.5), clip.sample_rate, clip.transcript),
                    Clip(clip.samples, clip.sample_rate, "Other words."), Clip(clip.samples, 16000, clip.transcript)):
        assert first.run(SpeechRequest(LINE, seed=1, clip=changed)).metrics.caches == {"prompt_cache": "miss"}
    assert first.report()["caches"][0]["entries"] == 1  # as many as there are slots


def test_speaking_does_not_change_a_kept_voice(second):
    clip = clip_of(5)
    before = second.ask(lambda model: model.export_voice(clip))
    for seed in range(3):
        second.run(SpeechRequest(LINE, seed=seed, clip=clip))
    after = second.ask(lambda model: model.export_voice(clip))
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize(("version", "words"), [("0.5b", WORDS), ("1.5", WORDS), ("2", WORDS), ("2", "")])
def test_voices_come_back_from_disk_bit_for_bit(checkpoint, tmp_path, version, words):
    clip = clip_of(6, words=words)
    one = started(spec_of(checkpoint(version), version))
    said = one.run(SpeechRequest(LINE, seed=1, clip=clip)).samples
    save_file(one.ask(lambda model: model.export_voice(clip)), tmp_path / "voice.safetensors")
    one.close()
    other = started(spec_of(checkpoint(version), version))
    try:
        tensors = load_file(tmp_path / "voice.safetensors")
        other.ask(lambda model: model.import_voice(clip, tensors))
        with counted(other) as work:
            speech = other.run(SpeechRequest(LINE, seed=1, clip=clip))
        assert work["clips"] == 0 and speech.metrics.caches == {"prompt_cache": "hit"}
        assert np.array_equal(speech.samples, said)
        again = other.ask(lambda model: model.export_voice(clip))
        assert again.keys() == tensors.keys() and all(torch.equal(again[name], tensors[name]) for name in tensors)
    finally:
        other.close()


def test_a_voice_of_another_model_is_refused(first, checkpoint):
    clip = clip_of(6)
    tensors = first.ask(lambda model: model.export_voice(clip))
    for changes in ({"path": checkpoint("1.5", seed=1)}, {"precision": "bfloat16"}):
        other = started(spec_of(**{"path": checkpoint("1.5"), "version": "1.5"} | changes))
        with pytest.raises(ValueError, match="other weights"):
            other.ask(lambda model: model.import_voice(clip, tensors))
        other.close()
    with pytest.raises(ValueError, match="not a voice state"):
        first.ask(lambda model: model.import_voice(clip, {"pocket.kv": torch.zeros(1)}))


def test_preparing_ahead_takes_the_work_off_the_request(first):
    clip, turn = clip_of(8), Turn()
    first.ask(lambda model: model.prepare_voice(clip, turn))
    assert turn.caches == {"prompt_cache": "miss"} and turn.voice_prepare > 0
    with counted(first) as work:
        assert first.run(SpeechRequest(LINE, clip=clip)).metrics.caches == {"prompt_cache": "hit"}
    assert work["clips"] == 0


@pytest.mark.parametrize(("clip", "code"), [
    (clip_of(1, seconds=0.05), "clip_too_short"),
    (Clip(np.zeros(0, np.float32), 24000, WORDS), "clip_too_short"),
    (Clip(np.zeros(48000, np.float32), 24000, WORDS), "clip_silent"),
    (Clip(np.full(48000, np.nan, np.float32), 24000, WORDS), "clip_silent"),
    (clip_of(1, seconds=180), "clip_too_long"),
    (clip_of(1, words=" "), "clip_transcript_missing"),
])
def test_clips_that_can_not_be_used_are_said_so(first, clip, code):
    with pytest.raises(SpeechError) as refused:
        first.run(SpeechRequest(LINE, clip=clip))
    assert (refused.value.code, refused.value.field) == (code, "clip") and refused.value.status == 422
    with pytest.raises(SpeechError) as refused:
        first.ask(lambda model: model.prepare_voice(clip, Turn()))
    assert refused.value.code == code


def test_voxcpm_2_needs_no_transcript_but_for_continuing(second):
    clip = clip_of(1, words="")
    assert second.run(SpeechRequest(LINE, clip=clip)).metrics.audio_seconds > 0
    with pytest.raises(SpeechError) as refused:
        second.run(SpeechRequest(LINE, clip=clip, options={"cloning": "continuation"}))
    assert (refused.value.code, refused.value.field) == ("field_invalid", "options.cloning")


def test_ways_of_cloning_differ_and_auto_chooses(second):
    clip = clip_of(1)

    def said(**options):
        return second.run(SpeechRequest(LINE, seed=1, clip=clip, options=options)).samples[:2000]

    assert np.array_equal(said(), said(cloning="continuation"))
    assert not np.array_equal(said(), said(cloning="reference"))
    assert np.array_equal(said(instruction="slowly"), said(instruction="slowly", cloning="reference"))
    assert not np.array_equal(said(instruction="slowly"), said(cloning="reference"))


@pytest.mark.parametrize("words", ["x", "Something else entirely, and much longer than anybody could say in that time. " * 2])
def test_a_transcript_that_does_not_match_is_no_crash_and_no_endless_noise(any_session, words):
    speech = any_session.run(SpeechRequest(LINE, seed=1, clip=clip_of(1, words=words)))
    assert 0 < speech.metrics.audio_seconds < 2.0 + 0.25 * len(LINE) + 0.2


def test_the_clips_own_sound_is_not_in_the_answer(first):
    """As long as what was made, patch for patch: what the decoder heard of the clip's end stays inside it."""
    clip = clip_of(1)
    with counted(first) as cold:
        speech = first.run(SpeechRequest(LINE, seed=1, clip=clip))
    state = first.model._voices.get(first.model._key(clip), lambda: pytest.fail("not in the cache"))[0]
    made = cold["patches"] - (len(state.patches) if cold["clips"] else 0)
    assert len(speech.samples) == made * first.model._engine.patch_samples


def test_states_are_plain_tensors_of_a_known_format(second):
    tensors = second.ask(lambda model: model.export_voice(clip_of(2)))
    assert all(name.startswith("voxcpm.") and not tensor.requires_grad for name, tensor in tensors.items())
    assert json.dumps({name: list(tensor.shape) for name, tensor in tensors.items()})
    report = second.report()["caches"][0]
    assert report["name"] == "prompt_cache" and report["bytes"] > 0
