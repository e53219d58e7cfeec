from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from models.errors import SpeechError
from models.events import SpeechRequest
from models.families.protocol import Turn
from models.voices.clip import Clip
from tests.models.families.pocket_tts.conftest import BRIEF, TEXT


def say(session, clip=None, voice="", text=TEXT, seed=1):
    return session.run(SpeechRequest(text, voice=voice, seed=seed, clip=clip, options=BRIEF))


def count_encodings(session) -> list:
    """A list that grows with every run of the audio encoder."""
    calls: list = []
    network = session.model._network
    session.ask(lambda model: network.tts.mimi.encoder.register_forward_hook(lambda *_: calls.append(1)))
    return calls


def slot(session) -> dict:
    return session.report()["caches"][0]


def test_the_second_request_encodes_nothing(start, pocket, clip_of):
    session = start(pocket)
    calls = count_encodings(session)
    first = say(session, clip_of(1))
    again = Clip(clip_of(1).samples.copy(), 24000)  # same content, another object
    second = say(session, again)
    assert len(calls) == 1
    assert (first.metrics.caches, second.metrics.caches) == (
        {"voice_state_cache": "miss"}, {"voice_state_cache": "hit"})
    assert first.metrics.voice_prepare > 0 and second.metrics.voice_prepare == 0
    assert np.array_equal(first.samples, second.samples)


def test_one_request_of_many_segments_encodes_once_even_without_slots(start, pocket, clip_of):
    session = start(pocket, voice_state_cache_slots=0)
    calls = count_encodings(session)
    speech = say(session, clip_of(1), text="A first long sentence stands here, for all to hear it well. " * 6)
    assert speech.metrics.segments > 1 and len(calls) == 1
    say(session, clip_of(1))
    assert len(calls) == 2 and slot(session)["bytes"] == 0


def test_a_changed_clip_is_another_voice(start, pocket, clip_of):
    session = start(pocket)
    calls = count_encodings(session)
    clip = clip_of(1)
    changed = Clip(np.concatenate([clip.samples[:-2400], clip_of(2).samples[-2400:]]), 24000)
    assert not np.array_equal(say(session, clip).samples, say(session, changed).samples)
    assert len(calls) == 2


def test_a_list_of_requests_speaks_each_in_its_own_voice(start, pocket, clip_of):
    session, voices = start(pocket), [("", clip_of(1)), ("alba", None), ("", clip_of(2)), ("bob", None)]
    alone = [say(start(pocket), clip, voice).samples for voice, clip in voices]
    together = [say(session, clip, voice).samples for voice, clip in voices]
    for one, other in zip(alone, together):
        assert np.array_equal(one, other)
    assert len({samples.tobytes() for samples in together}) == 4


def test_requests_at_once_keep_their_voices(start, pocket, clip_of):
    from concurrent.futures import ThreadPoolExecutor

    session, clips = start(pocket), [clip_of(seed) for seed in range(4)]
    text = "One sentence is here for you to hear it. " * 6
    alone = [say(session, clip, text=text).samples for clip in clips]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda clip: say(session, clip, text=text).samples, clips))
    assert all(np.array_equal(one, other) for one, other in zip(alone, together))


def test_slots_are_bounded_and_counted_in_bytes(start, pocket, clip_of):
    session = start(pocket, voice_state_cache_slots=2)
    one = session.ask(lambda model: model._network.encode(clip_of(1).samples, 24000).bytes)
    for seed in (1, 2, 1, 3):
        say(session, clip_of(seed))
    report = slot(session)
    assert report["entries"] == 2 and report["bytes"] == 2 * one and report["evictions"] >= 1
    hits = report["hits"]
    say(session, clip_of(1))  # used after 2, so still there
    assert slot(session)["hits"] == hits + 1
    say(session, clip_of(2))
    assert slot(session)["hits"] == hits + 1


def test_a_state_holds_what_was_heard_and_no_more(start, pocket, clip_of):
    session = start(pocket)
    state = session.ask(lambda model: model._network.encode(clip_of(1, seconds=2.0).samples, 24000))
    frames = state.length - 1  # one position marks the beginning
    assert 20 <= frames <= 27  # 2 s of 80 ms frames, and the pause put after them
    width = 32  # two heads of sixteen
    assert state.bytes == 2 * 2 * state.length * width * 4  # layers, keys and values, float32


def test_exported_states_come_back_bit_equal(start, pocket, clip_of, tmp_path):
    session, clip = start(pocket), clip_of(1)
    expected = say(session, clip).samples
    tensors = session.ask(lambda model: model.export_voice(clip))
    save_file(tensors, tmp_path / "voice.safetensors")
    other = start(pocket)
    calls = count_encodings(other)
    other.ask(lambda model: model.import_voice(clip, load_file(tmp_path / "voice.safetensors")))
    speech = say(other, clip)
    assert not calls and speech.metrics.caches == {"voice_state_cache": "hit"}
    assert np.array_equal(speech.samples, expected)
    back = other.ask(lambda model: model.export_voice(clip))
    assert back.keys() == tensors.keys() and all(torch.equal(back[name], tensors[name]) for name in back)


def test_exported_states_are_the_package_s_own_format(start, pocket, official, clip_of, tmp_path):
    clip = clip_of(1)
    tensors = start(pocket).ask(lambda model: model.export_voice(clip))
    save_file(tensors, tmp_path / "voice.safetensors")
    theirs = official.get_state_for_audio_prompt(tmp_path / "voice.safetensors")
    assert len(official.generate_audio(theirs, "Hi.")) > 0


def test_a_state_of_another_model_is_refused(start, pocket, other_pocket, clip_of):
    clip, session = clip_of(1), start(pocket)
    tensors = session.ask(lambda model: model.export_voice(clip))
    for refusing in (start(other_pocket), start(pocket, precision="bfloat16")):
        with pytest.raises(ValueError):
            refusing.ask(lambda model: model.import_voice(clip, tensors))
    for broken in ({}, {"a/cache": torch.zeros(1)}, {**tensors, "transformer.layers.0.self_attn/cache": torch.zeros(2, 1, 3)}):
        with pytest.raises(ValueError):
            session.ask(lambda model: model.import_voice(clip, broken))


def test_prepare_notes_what_it_did(start, pocket, clip_of):
    session, turns = start(pocket), [Turn(), Turn()]
    for turn in turns:
        session.ask(lambda model: model.prepare_voice(clip_of(1), turn))
    assert [turn.caches["voice_state_cache"] for turn in turns] == ["miss", "hit"]
    assert turns[0].voice_prepare > 0 and turns[1].voice_prepare == 0


@pytest.mark.parametrize(("clip", "code"), [
    (Clip(np.full(1200, 0.1, np.float32), 24000), "clip_too_short"),
    (Clip(np.zeros(0, np.float32), 24000), "clip_too_short"),
    (Clip(np.zeros(48000, np.float32), 24000), "clip_silent"),
    (Clip(np.full(48000, np.nan, np.float32), 24000), "clip_silent"),
])
def test_useless_clips_are_clear_errors(start, pocket, clip, code):
    session = start(pocket)
    with pytest.raises(SpeechError) as caught:
        say(session, clip)
    assert caught.value.code == code and caught.value.field == "clip" and caught.value.status == 422
    for work in (lambda model: model.export_voice(clip), lambda model: model.prepare_voice(clip, Turn())):
        with pytest.raises(SpeechError):
            session.ask(work)
    assert len(say(session).samples)


def test_a_transcript_that_does_not_match_is_no_trouble(start, pocket, clip_of):
    clip = clip_of(1)
    session = start(pocket)
    wrong = Clip(clip.samples, clip.sample_rate, "entirely other words than those in it")
    assert np.array_equal(say(session, clip).samples, say(session, wrong).samples)


@pytest.mark.parametrize("rate", [8000, 16000, 44100, 48000, 96000])
def test_clips_of_any_rate(start, pocket, clip_of, rate):
    assert len(say(start(pocket), clip_of(1, rate=rate)).samples)


def test_a_three_minute_clip_is_heard_up_to_the_limit(start, pocket, clip_of):
    session = start(pocket, reference_seconds=2.0)
    say(session, clip_of(1, seconds=180))
    state = session.ask(lambda model: model._clip_state(clip_of(1, seconds=180), Turn()))
    assert 5 < state.length <= 2.0 * 12.5 + 4


def test_a_checkpoint_without_stock_voices_asks_for_a_clip(start, other_pocket, clip_of):
    session = start(other_pocket)
    assert session.model.voices() == [] and session.model.default_voice("en") == ""
    for voice in ("", "alba"):
        with pytest.raises(SpeechError) as caught:
            say(session, voice=voice)
        assert caught.value.code == "clip_needed"
    assert len(say(session, clip_of(1)).samples)


def test_stock_voices(start, pocket):
    session = start(pocket)
    assert [voice.id for voice in session.model.voices()] == ["alba", "bob"]
    assert session.model.default_voice("en") == "alba"
    assert np.array_equal(say(session).samples, say(session, voice="alba").samples)
    with pytest.raises(SpeechError) as caught:
        say(session, voice="allba")
    assert caught.value.code == "voice_unknown" and "did you mean alba" in caught.value.sentence()


def test_a_stock_voice_of_another_network_is_named(start, pocket, tmp_path):
    import shutil

    copy = shutil.copytree(pocket, tmp_path / "copy")
    save_file({"transformer.layers.0.self_attn/cache": torch.zeros(1)}, copy / "embeddings" / "carl.safetensors")
    session = start(copy)
    with pytest.raises(SpeechError) as caught:
        say(session, voice="carl")
    assert caught.value.code == "weights_broken" and "carl.safetensors" in caught.value.sentence()
    assert len(say(session).samples)
