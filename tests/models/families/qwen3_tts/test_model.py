from __future__ import annotations

import itertools
import logging
import random
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from models.errors import SpeechError
from models.events import AudioChunk, SpeechRequest
from models.families import family
from models.families.qwen3_tts import text as reading
from models.session import Session
from tests.models.families.qwen3_tts.conftest import KINDS

TEXT = "Hello there, my dear old friend."
LONG = "The first sentence of this text is of no great length. " * 12
BRIEF = {"max_seconds": 1.5}


def request_for(kind: str, clip_of, text: str = TEXT, **changes) -> SpeechRequest:
    changes.setdefault("options", BRIEF)
    return SpeechRequest(text, clip=clip_of(1) if kind == "base" else None, **changes)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_reproduces_and_none_differs(sessions, clip_of, kind):
    runs = [sessions[kind].run(request_for(kind, clip_of, seed=seed)).samples for seed in (7, 7, 8, None, None)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2]) and not np.array_equal(runs[3], runs[4])


@pytest.mark.parametrize("kind", KINDS)
def test_streamed_and_whole_are_equal(start, sessions, checkpoint, clip_of, kind):
    request = request_for(kind, clip_of, seed=3, options={"max_seconds": 3.0})
    chunks = [event.samples for event in sessions[kind].stream(request) if isinstance(event, AudioChunk)]
    frames = [len(chunk) // 1920 for chunk in chunks]
    assert len(chunks) > 3 and frames[:2] == [2, 2] and frames[2] == 4 and max(frames) <= 8
    whole = start(checkpoint(kind), first_chunk_frames=25, chunk_frames=250).run(
        request_for(kind, clip_of, seed=3, options={"max_seconds": 3.0}))
    assert np.abs(np.concatenate(chunks) - whole.samples).max() < 2e-4


@pytest.mark.parametrize("kind", ["base", "voice_design"])
def test_after_fifty_cancelled_requests_the_next_is_as_new(start, checkpoint, clip_of, kind):
    session, dice = start(checkpoint(kind)), random.Random(1)
    for number in range(50):
        clip = clip_of(number % 3) if kind == "base" else None
        stream = session.stream(SpeechRequest(LONG, seed=number, clip=clip))
        for _ in itertools.islice(stream, dice.randrange(1, 7)):
            pass
        stream.close()
    fresh = start(checkpoint(kind))
    for seed in (5, 6):
        wish = {"text": TEXT, "seed": seed, "options": BRIEF, "clip": clip_of(1) if kind == "base" else None}
        assert np.array_equal(session.run(SpeechRequest(**wish)).samples, fresh.run(SpeechRequest(**wish)).samples)


def test_cancel_ends_within_one_chunk(start, checkpoint):
    session, made = start(checkpoint("custom_voice")), []
    session.ask(lambda model: model._official.model.talker.codec_head.register_forward_hook(lambda *_: made.append(1)))
    stream = session.stream(SpeechRequest(LONG, seed=1))
    next(event for event in stream if isinstance(event, AudioChunk))
    stream.close()
    count = session.ask(lambda model: len(made))  # the worker answers once the cancelled request is over
    time.sleep(0.2)
    assert len(made) == count


@pytest.mark.parametrize("kind", KINDS)
def test_long_text_goes_on_in_segments(sessions, clip_of, kind):
    heard = sessions[kind].run(request_for(kind, clip_of, LONG, seed=1, options={"max_seconds": 3600.0}))
    assert heard.metrics.segments == heard.metrics.segments_done > 1
    assert heard.metrics.audio_seconds > 3


def test_a_designed_voice_is_kept_for_the_next_segments(start, checkpoint):
    """Later segments are spoken on from the first: its text and codes stand before theirs."""
    session, prompts = start(checkpoint("voice_design")), []
    frames = session.model._talker.frames
    session.model._talker.frames = lambda prompt, generator, limit, spoken=None: (
        prompts.append((prompt.embeds.shape[1], spoken)), frames(prompt, generator, limit, spoken))[1]
    text = "The first part of it stands here.\n\nThen comes the second part.\n\nAnd the third one."
    session.run(SpeechRequest(text, seed=8, options={"instruction": "an old king"}))
    (first, none), *rest = prompts
    assert none is None and len(rest) == 2
    kept = rest[0][1]
    assert len(kept) >= 8 and all(torch.equal(spoken, kept) for _, spoken in rest)
    assert all(length > first for length, _ in rest)


def test_the_instruction_is_heard(sessions):
    for kind in ("custom_voice", "voice_design"):
        ways = [sessions[kind].run(SpeechRequest(TEXT, seed=2, options=BRIEF | {"instruction": way})).samples
                for way in ("", "an angry man", "a calm woman")]
        assert not any(np.array_equal(one, other) for one, other in itertools.combinations(ways, 2))


@pytest.mark.parametrize(("kind", "size"), [("base", "1b7"), ("custom_voice", "0b6")])
def test_an_instruction_nobody_follows_is_refused(start, checkpoint, clip_of, kind, size):
    with pytest.raises(SpeechError) as caught:
        start(checkpoint(kind, size=size)).run(request_for(kind, clip_of, options={"instruction": "sad"}))
    assert caught.value.code == "field_invalid" and caught.value.field == "options.instruction"


def test_speakers_are_voices(sessions):
    model = sessions["custom_voice"].model
    assert {voice.id: (voice.name, voice.language, voice.gender) for voice in model.voices()} == {
        "vivian": ("Vivian", "zh", "f"), "ryan": ("Ryan", "en", "m"), "ono_anna": ("Ono Anna", "ja", "f"),
        "dylan": ("Dylan", "zh", "m")}
    assert {tag: model.default_voice(tag) for tag in ("zh", "en", "ja", "ko", "auto")} == {
        "zh": "vivian", "en": "ryan", "ja": "ono_anna", "ko": "vivian", "auto": "vivian"}
    assert model.languages == ("zh", "en", "de", "ja", "ko")
    spoken = {voice.id: sessions["custom_voice"].run(SpeechRequest(TEXT, voice=voice.id, seed=2, options=BRIEF)).samples
              for voice in model.voices()}
    assert not any(np.array_equal(one, other) for one, other in itertools.combinations(spoken.values(), 2))


@pytest.mark.parametrize(("text", "voice"), [("你好，我的朋友。", "vivian"), (TEXT, "ryan"), ("こんにちは、友達。", "ono_anna")])
def test_the_default_speaker_follows_the_text(sessions, text, voice):
    assert sessions["custom_voice"].model.plan(SpeechRequest(text)).voice == voice


def test_an_unknown_voice_is_answered_with_the_nearest(sessions, start, checkpoint, spec_of):
    with pytest.raises(SpeechError, match="did you mean vivian") as caught:
        sessions["custom_voice"].run(SpeechRequest(TEXT, voice="viviane"))
    assert (caught.value.code, caught.value.status) == ("voice_unknown", 404)
    assert start(checkpoint("custom_voice"), voice="Ryan").model.default_voice("zh") == "ryan"
    broken = Session(spec_of(checkpoint("custom_voice"), voice="nobody"))
    broken.start()
    with pytest.raises(SpeechError, match="no voice called nobody"):
        broken.wait_ready(60)


def test_clips_are_asked_for_and_refused_where_they_must_be(sessions, clip_of):
    with pytest.raises(SpeechError) as needed:
        sessions["base"].run(SpeechRequest(TEXT))
    assert (needed.value.code, needed.value.field) == ("clip_needed", "clip")
    for kind in ("custom_voice", "voice_design"):
        assert not sessions[kind].model.clones
        with pytest.raises(SpeechError) as refused:
            sessions[kind].run(SpeechRequest(TEXT, clip=clip_of(1)))
        assert (refused.value.code, refused.value.field) == ("clip_unsupported", "clip")


def test_the_language_reaches_the_model(sessions):
    told, session = [], sessions["custom_voice"]
    official = session.model._official
    say = official.generate_custom_voice
    official.generate_custom_voice = lambda words, voice, language, *rest, **more: (
        told.append(language), say(words, voice, language, *rest, **more))[1]
    try:
        for text, language in ((TEXT, "auto"), ("你好，朋友。", "auto"), ("今天我们学习 machine learning 的基础。", "auto"),
                               ("Guten Morgen.", "de"), ("你好。", "zh-CN")):
            session.run(SpeechRequest(text, language=language, seed=1, options={"max_seconds": 1.0}))
    finally:
        del official.generate_custom_voice
    assert told == ["english", "chinese", "auto", "german", "chinese"]


def test_runaway_speech_is_ended_and_faded(sessions):
    session, made = sessions["custom_voice"], []
    head = session.model._official.model.talker.codec_head
    handle = session.ask(lambda model: head.register_forward_hook(  # a model that never finds an end
        lambda module, inputs, logits: (made.append(1), logits.index_fill(-1, torch.tensor([164]), -1e9))[1]))
    heard = session.run(SpeechRequest("Hi.", seed=1, options={"max_seconds": 600.0}))
    handle.remove()
    assert len(made) == reading.most_frames("Hi.") == len(heard.samples) // 1920
    assert abs(heard.samples[-1]) < 1e-3


def test_max_seconds_is_for_the_whole_answer(sessions):
    heard = sessions["custom_voice"].run(SpeechRequest(LONG, seed=1, options={"max_seconds": 4.0}))
    assert heard.metrics.segments_done > 1 and heard.metrics.audio_seconds <= 4.0


def test_a_small_context_is_met_by_splitting(start, checkpoint, clip_of):
    session = start(checkpoint("base", positions=300))
    reached = []
    step = session.model._talker._step
    session.model._talker._step = lambda embeds, cache: (step(embeds, cache), reached.append(cache.get_seq_length()))[0]
    heard = session.run(SpeechRequest(LONG[:110] + "1234567890 " * 2, seed=1, clip=clip_of(1)))
    assert heard.metrics.segments > 3 and 200 < max(reached) <= 300
    with pytest.raises(SpeechError) as caught:
        session.run(SpeechRequest(TEXT, clip=clip_of(1, seconds=25.0)))
    assert (caught.value.code, caught.value.field) == ("field_invalid", "clip")
    with pytest.raises(SpeechError) as caught:
        start(checkpoint("voice_design", positions=300)).run(SpeechRequest(TEXT, options={"instruction": "calm " * 60}))
    assert (caught.value.code, caught.value.field) == ("field_invalid", "options.instruction")


def test_speed_changes_length_and_not_content(sessions):
    lengths = {speed: len(sessions["custom_voice"].run(SpeechRequest(TEXT, seed=1, speed=speed, options=BRIEF)).samples)
               for speed in (0.5, 1.0, 2.0)}
    assert lengths[0.5] == 2 * lengths[1.0] == 4 * lengths[2.0]
    with pytest.raises(SpeechError) as caught:
        sessions["custom_voice"].run(SpeechRequest(TEXT, speed=3.0))
    assert (caught.value.code, caught.value.field) == ("field_invalid", "speed")


def test_controls_are_declared_with_range_and_help():
    for name, control in family("qwen3_tts").controls.items():
        assert len(control.help["en"]) > 10, name
        assert control.type is not float or (control.low is not None and control.high is not None), name


@pytest.mark.parametrize(("options", "field"), [
    ({"temperature": 9.0}, "options.temperature"), ({"top_k": -1}, "options.top_k"), ({"top_p": 0.0}, "options.top_p"),
    ({"max_seconds": 0}, "options.max_seconds"), ({"speaker": "ryan"}, "options.speaker")])
def test_controls_out_of_range_are_clear(sessions, options, field):
    with pytest.raises(SpeechError) as caught:
        sessions["custom_voice"].run(SpeechRequest(TEXT, options=options))
    assert caught.value.field == field and caught.value.status == 422


def test_temperature_zero_is_always_the_same(sessions):
    runs = [sessions["custom_voice"].run(SpeechRequest(TEXT, seed=seed, options=BRIEF | {"temperature": 0.0})).samples
            for seed in (1, 2)]
    assert np.array_equal(*runs)


@pytest.mark.parametrize(("text", "language", "code"), [
    ("", "auto", "text_empty"), ("!!! ...", "auto", "text_unspeakable"), ("😀", "auto", "text_unspeakable"),
    ("Hello", "fr", "language_unsupported")])
def test_texts_it_can_not_speak(sessions, text, language, code):
    with pytest.raises(SpeechError) as caught:
        sessions["custom_voice"].run(SpeechRequest(text, language=language))
    assert caught.value.code == code


@pytest.mark.parametrize("text", ["I", "Hi.", "a\u200bb", "Hello 😀 there ■ you", "5", "\tNew\n\nlines\r\n",
                                  "<|im_end|> <tts_pad>", "你", "“Quotes?” she said"])
def test_odd_texts_are_spoken(sessions, text):
    assert len(sessions["custom_voice"].run(SpeechRequest(text, seed=1, options=BRIEF)).samples)


def test_the_other_precision_speaks_too(start, checkpoint, clip_of):
    session = start(checkpoint("base"), precision="bfloat16")
    assert (session.model.precision, session.model.device) == ("bfloat16", "cpu")
    heard = session.run(request_for("base", clip_of, seed=1)).samples
    assert heard.dtype == np.float32 and heard.std() > 0.01


def test_threads_random_state_and_console_are_as_before(start, checkpoint, capfd):
    torch.set_num_threads(2)
    threads, state, handlers = torch.get_num_threads(), torch.get_rng_state(), list(logging.getLogger().handlers)
    session = start(checkpoint("base", seed=3))
    assert torch.get_num_threads() == threads and session.ask(lambda model: torch.get_num_threads()) == threads
    assert torch.equal(torch.get_rng_state(), state) and logging.getLogger().handlers == handlers
    assert capfd.readouterr() == ("", "")
    torch.set_num_threads(1)


def test_the_first_import_is_silent_too(checkpoint):
    code = ("import sys; from models.families.qwen3_tts.package import import_package; import torch\n"
            "state, threads = torch.get_rng_state(), torch.get_num_threads()\n"
            "package = import_package()\n"
            "assert torch.equal(state, torch.get_rng_state()) and threads == torch.get_num_threads()\n"
            "assert 'sox' not in sys.modules and package.Qwen3TTSModel")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_warming_uses_every_part(spec_of, checkpoint):
    from models.families.qwen3_tts.model import QwenModel

    stages = {}
    for kind in KINDS:
        model = QwenModel(spec_of(checkpoint(kind)))
        model.load(lambda line: None)
        parts = {"talker": model._official.model.talker.model, "details": model._official.model.talker.code_predictor.model,
                 "decoder": model._official.model.speech_tokenizer.model.decoder.pre_transformer}
        if kind == "base":
            parts |= {"speaker": model._official.model.speaker_encoder,
                      "encoder": model._official.model.speech_tokenizer.model.encoder.encoder}
        ran = set()
        for name, part in parts.items():
            part.register_forward_hook(lambda *_, name=name: ran.add(name))
        stages[kind] = list(model.warm())
        assert ran == set(parts)
        assert all(slots.report()["entries"] == 0 for slots in model.slots())
    assert stages["base"] == ["text", "reference encoding", "speech", "timbre alone"]
    assert stages["custom_voice"] == stages["voice_design"] == ["text", "speech"]
