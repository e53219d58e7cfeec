from __future__ import annotations

import itertools
import json
import logging
import random
import shutil
import threading

import numpy as np
import pytest

from models.errors import SpeechError
from models.events import AudioChunk, Done, Failed, SpeechRequest
from models.families.supertonic.network import PACE, Network
from models.session import Session
from models.voices.clip import Clip
from tests.models.families.supertonic.conftest import TEXT

LONG = "The first sentence of this text is of no great length, and here it ends. " * 8


def say(session, text=TEXT, seed=1, **request):
    return session.run(SpeechRequest(text, seed=seed, **request))


def slot(session) -> dict:
    return session.report()["caches"][0]


@pytest.mark.parametrize(("checkpoint", "lang"), [("supertonic-3", "en"), ("supertonic-2", "en"), ("supertonic", None)])
def test_equals_the_official_package(supertonic, spec_of, checkpoint, lang):
    """Given the same noise: the package draws its own from numpy's global state."""
    from supertonic import TTS

    theirs = TTS(model=checkpoint, model_dir=supertonic, auto_download=False)
    ours = Network(spec_of(supertonic, checkpoint=checkpoint), supertonic, "cpu", lang is not None)
    style = theirs.get_voice_style("M1")
    for text, steps, speed in ((TEXT, 5, 1.0), ("Hi @ you – “there” [now]", 3, 1.5)):
        theirs.model.sample_noisy_latent = lambda duration: ours._noise(duration, np.random.default_rng(4))
        expected, _ = theirs.synthesize(text, style, total_steps=steps, speed=PACE * speed, lang=lang or "en")
        found = np.concatenate(list(ours.speak(ours.readable(text), lang, style, steps, speed, np.random.default_rng(4))))
        np.testing.assert_allclose(found, expected[0], atol=1e-6)


def test_noise_has_the_official_size(supertonic, spec_of):
    from supertonic import TTS

    theirs, ours = TTS(model_dir=supertonic, auto_download=False).model, Network(spec_of(supertonic), supertonic, "cpu", True)
    for seconds in (0.05, 0.0696599, 0.07, 1.0, 3.3):
        duration = np.float32([seconds])
        for their, our in zip(theirs.sample_noisy_latent(duration), ours._noise(duration, np.random.default_rng(0))):
            assert their.shape == our.shape and (their == 0).sum() == (our == 0).sum()


def test_a_seed_reproduces_and_none_differs(start, supertonic):
    session = start(supertonic)
    runs = [say(session, LONG, seed).samples for seed in (7, 7, 8, None, None)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2]) and not np.array_equal(runs[3], runs[4])


def test_streams_by_segment_as_it_collects(start, supertonic):
    session = start(supertonic)
    chunks = [event for event in session.stream(SpeechRequest(LONG, seed=2)) if isinstance(event, AudioChunk)]
    assert len({chunk.segment for chunk in chunks}) >= 3
    first = sum(len(chunk.samples) for chunk in chunks if chunk.segment == 0)
    assert first < 0.4 * sum(len(chunk.samples) for chunk in chunks)
    assert np.array_equal(np.concatenate([chunk.samples for chunk in chunks]), say(session, LONG, 2).samples)


def test_controls_are_heard(start, supertonic):
    session = start(supertonic)
    base = say(session).samples
    assert not np.array_equal(base, say(session, options={"steps": 3}).samples)
    two = "One sentence stands here.\n\nAnother one stands here."
    lengths = [len(say(session, two, options={"pause": pause}).samples) for pause in (0.0, 1.0)]
    assert lengths[1] - lengths[0] == round(1.6 * session.model.sample_rate)
    for options in ({"steps": 0}, {"steps": 101}, {"pause": -1.0}, {"cfg": 2}):
        with pytest.raises(SpeechError) as caught:
            say(session, options=options)
        assert caught.value.status == 422 and caught.value.field == f"options.{next(iter(options))}"


def test_speed(start, supertonic):
    session = start(supertonic)
    slow, fast = (len(say(session, LONG, speed=speed, options={"pause": 0.0}).samples) for speed in (0.75, 1.5))
    assert 1.8 < slow / fast < 2.2
    for speed in (0.5, 2.5):
        with pytest.raises(SpeechError) as caught:
            say(session, speed=speed)
        assert caught.value.code == "field_invalid" and caught.value.field == "speed"


def test_runaway_durations_are_bounded(supertonic, spec_of):
    network = Network(spec_of(supertonic), supertonic, "cpu", True)
    stage = network._stage
    network._stage = lambda name, **values: (
        np.float32([1e9]) if name == "duration_predictor" else stage(name, **values))
    made = sum(map(len, network.speak("Hi.", "en", style_of(network), 2, 1.0, np.random.default_rng(0))))
    assert made / network.sample_rate < 3 + 3 * 0.6 + 0.1


def style_of(network):
    from models.families.supertonic.styles import Style

    shapes = network.style_shapes
    return Style(*(np.zeros((1, *shape[1:]), np.float32) for shape in (shapes["style_ttl"], shapes["style_dp"])))


def test_styles_are_read_once_and_bounded(start, supertonic):
    session = start(supertonic, style_cache_slots=1)
    assert slot(session) == {"name": "style_cache", "capacity": 1, "entries": 1, "hits": 0, "misses": 1, "evictions": 0,
                             "bytes": (40 + 16) * 4}
    first, second = say(session, voice="M1"), say(session, voice="F1")
    assert (first.metrics.caches, second.metrics.caches) == ({"style_cache": "hit"}, {"style_cache": "miss"})
    assert slot(session)["evictions"] == 1 and slot(session)["bytes"] == 224
    assert say(session, LONG, voice="F1").metrics.segments > 1 and slot(session)["hits"] == 2


def test_a_style_changed_on_disk_is_another_voice(start, supertonic, tmp_path):
    copy = shutil.copytree(supertonic, tmp_path / "copy")
    session = start(copy)
    before = say(session).samples
    (copy / "voice_styles" / "M1.json").write_bytes((copy / "voice_styles" / "F1.json").read_bytes())
    after = say(session)
    assert after.metrics.caches == {"style_cache": "miss"}
    assert not np.array_equal(before, after.samples) and np.array_equal(after.samples, say(session, voice="F1").samples)


def test_a_style_that_breaks_or_goes_is_named(start, supertonic, tmp_path):
    copy = shutil.copytree(supertonic, tmp_path / "copy")
    session = start(copy)
    (copy / "voice_styles" / "F1.json").write_text(json.dumps({"style_ttl": 1}))
    with pytest.raises(SpeechError) as caught:
        say(session, voice="F1")
    assert caught.value.code == "weights_broken" and "F1.json" in caught.value.sentence()
    (copy / "voice_styles" / "F1.json").unlink()
    with pytest.raises(SpeechError) as caught:
        say(session, voice="F1")
    assert caught.value.code == "weights_broken"
    assert len(say(session).samples)


def test_a_list_of_requests_speaks_each_in_its_own_voice(start, supertonic):
    session, voices = start(supertonic), ("M1", "F1", "M1", "F1")
    alone = [say(start(supertonic), voice=voice).samples for voice in voices]
    together = [say(session, voice=voice).samples for voice in voices]
    assert all(np.array_equal(one, other) for one, other in zip(alone, together))
    assert not np.array_equal(together[0], together[1])


def test_voices(start, supertonic):
    session = start(supertonic)
    assert [(voice.id, voice.gender) for voice in session.model.voices()] == [("F1", "f"), ("M1", "m")]
    assert session.model.default_voice("ko") == "M1"
    with pytest.raises(SpeechError) as caught:
        say(session, voice="M")
    assert caught.value.code == "voice_unknown" and "did you mean M1" in caught.value.sentence()


def test_a_clip_is_refused_clearly(start, supertonic):
    with pytest.raises(SpeechError) as caught:
        say(start(supertonic), clip=Clip(np.full(48000, 0.1, np.float32), 24000))
    assert caught.value.code == "clip_unsupported" and caught.value.field == "clip"


def test_after_fifty_cancelled_requests_the_next_is_as_new(start, supertonic):
    session, dice = start(supertonic), random.Random(1)
    for number in range(50):
        stream = session.stream(SpeechRequest(LONG, seed=number, voice="F1"))
        for _ in itertools.islice(stream, dice.randrange(1, 6)):
            pass
        stream.close()
    assert np.array_equal(say(session, LONG, 5).samples, say(start(supertonic), LONG, 5).samples)


def test_cancel_ends_between_two_steps(start, supertonic):
    session, stages, ended = start(supertonic), [], threading.Event()
    network = session.model._network
    run_stage = network._stage

    def counted(name, **values):
        stages.append(name)
        if len(stages) == 10:
            job.cancel()
        return run_stage(name, **values)

    def sink(event):
        if isinstance(event, (Done, Failed)):
            ended.set()

    held = threading.Event()
    network._stage = lambda name, **values: (held.wait(), counted(name, **values))[1]
    job = session.submit(SpeechRequest(TEXT, options={"steps": 100}), sink)
    held.set()
    assert ended.wait(30) and len(stages) == 10 and job.metrics.state == "cancelled"


@pytest.mark.parametrize(("text", "language"), [
    ("Hello world.", "en"), ("こんにちは、世界です。", "ja"), ("안녕하세요, 반갑습니다.", "ko"), ("Привет, как дела?", "ru"),
    ("Καλημέρα σε όλους.", "el"), ("नमस्ते, आप कैसे हैं?", "hi"), ("مرحبا بالعالم.", "ar")])
def test_the_text_carries_its_language(start, supertonic, text, language):
    session, asked = start(supertonic), []
    speak = session.model._network.speak
    session.model._network.speak = lambda text, spoken, *rest: (asked.append(spoken), speak(text, spoken, *rest))[1]
    speech = say(session, text)
    assert speech.metrics.language == language and set(asked) == {language} and len(speech.samples)


def test_chinese_is_not_read_as_japanese(start, supertonic):
    session = start(supertonic)
    for text, language in (("今天天气很好，我们去公园。", "auto"), ("Hello", "zh")):
        with pytest.raises(SpeechError) as caught:
            say(session, text, language=language)
        assert caught.value.code == "language_unsupported"


@pytest.mark.parametrize("text", ["I", "Hi.", "5", "Hello 😀 there ■ you", "ɔː well", "𝕳ello 𠮷 there", "a\u200bb",
                                  "\tNew\n\nlines\r\n", "x" * 900, "e-mail me@example.org or call 555-123-4567"])
def test_odd_texts_are_spoken(start, supertonic, text):
    assert len(say(start(supertonic), text, language="en").samples)


@pytest.mark.parametrize(("text", "code"), [("", "text_empty"), ("... !!!", "text_unspeakable"), ("😀", "text_unspeakable")])
def test_texts_it_cannot_speak(start, supertonic, text, code):
    with pytest.raises(SpeechError) as caught:
        say(start(supertonic), text)
    assert caught.value.code == code


def test_signs_the_model_lacks_are_an_explained_silence(supertonic, start):
    session = start(supertonic)
    session.model._network._readable = set("0123456789. ")
    with pytest.raises(SpeechError) as caught:
        say(session, "hello")
    assert caught.value.code == "text_unspeakable"


def test_korean_has_shorter_segments(start, supertonic):
    text = "오늘은 날씨가 아주 좋아서 공원에 갔습니다. " * 12
    segments = start(supertonic).model.plan(SpeechRequest(text)).segments
    assert max(len(segment.text) for segment in segments) <= 130


def test_random_state_and_console_are_as_before(start, supertonic, capfd):
    state, handlers = np.random.get_state()[1].copy(), list(logging.getLogger().handlers)
    say(start(supertonic), LONG)
    assert np.array_equal(np.random.get_state()[1], state) and logging.getLogger().handlers == handlers
    assert capfd.readouterr() == ("", "")


def test_mem_saver_sounds_the_same(start, supertonic):
    assert np.array_equal(say(start(supertonic), LONG).samples, say(start(supertonic, mem_saver=True), LONG).samples)


def test_warm_up_runs_every_stage(supertonic, spec_of):
    lines = []
    session = Session(spec_of(supertonic), watch=lambda session, line: lines.append(line))
    session.start()
    session.wait_ready(60)
    session.close()
    assert lines[2:6] == ["text", "default style", "short segment", "long segment"]
