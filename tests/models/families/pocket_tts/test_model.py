from __future__ import annotations

import itertools
import logging
import random
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from models.errors import SpeechError
from models.events import AudioChunk, Failed, SpeechRequest
from models.families.pocket_tts.threads import in_new_thread
from models.session import Session
from tests.models.families.pocket_tts.conftest import BRIEF, TEXT

LONG = "The first sentence of this text is of no great length. " * 3


def test_a_seed_reproduces_and_none_differs(resident):
    session, options = resident, BRIEF
    runs = [session.run(SpeechRequest(LONG, seed=seed, options=options)).samples for seed in (7, 7, 8, None, None)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2]) and not np.array_equal(runs[3], runs[4])


def test_streamed_and_whole_are_equal(resident):
    session = resident
    request = SpeechRequest(TEXT, seed=3)
    chunks = [event for event in session.stream(request) if isinstance(event, AudioChunk)]
    assert len(chunks) > 5 and len(chunks[0].samples) == 1920
    whole = session.run(SpeechRequest(TEXT, seed=3))
    assert np.array_equal(np.concatenate([chunk.samples for chunk in chunks]), whole.samples)


def test_after_fifty_cancelled_requests_the_next_is_as_new(start, pocket, clip_of):
    session, dice = start(pocket), random.Random(1)
    for number in range(50):
        clip = clip_of(number % 3) if number % 2 else None
        stream = session.stream(SpeechRequest(LONG, seed=number, clip=clip))
        for _ in itertools.islice(stream, dice.randrange(1, 9)):
            pass
        stream.close()
    for clip in (clip_of(1), None):
        request = {"text": LONG, "seed": 5, "options": BRIEF, "clip": clip}
        assert np.array_equal(session.run(SpeechRequest(**request)).samples,
                              start(pocket).run(SpeechRequest(**request)).samples)


def test_cancel_ends_within_one_chunk(start, pocket):
    session = start(pocket)
    made = []
    network = session.model._network
    session.ask(lambda model: network.tts.mimi.decoder.register_forward_hook(lambda *_: made.append(1)))
    stream = session.stream(SpeechRequest(LONG, seed=1))
    for event in stream:
        if isinstance(event, AudioChunk):
            break
    stream.close()
    count = session.ask(lambda model: len(made))  # the worker answers once the cancelled request is over
    time.sleep(0.2)
    assert len(made) == count


def test_long_text_is_split_by_tokens_not_refused(start, pocket):
    session = start(pocket)
    asked = []
    speak = session.model._network.speak
    session.model._network.speak = lambda text, *rest: (asked.append(text), speak(text, *rest))[1]
    unbroken = "x" * 400
    for text in (LONG, "It costs $123,456,789.12 on 5/12/2024, or 555-123-4567. " * 3, unbroken):
        asked.clear()
        assert len(session.run(SpeechRequest(text, seed=1, options=BRIEF)).samples)
        assert len(asked) > 1
        assert max(session.model._network.tokens(piece) for piece in asked) <= 60
    assert "".join(asked).count("x") == 400


def test_speed_changes_length_and_not_content(resident):
    session = resident
    lengths = {speed: len(session.run(SpeechRequest("Hi.", seed=1, speed=speed, options={"eos_threshold": 20.0})).samples)
               for speed in (0.5, 1.0, 1.5)}
    assert lengths[0.5] == 2 * lengths[1.0] and lengths[1.5] == round(lengths[1.0] / 1.5)
    with pytest.raises(SpeechError) as caught:
        session.run(SpeechRequest(TEXT, speed=3.0))
    assert caught.value.code == "field_invalid" and caught.value.field == "speed"


@pytest.mark.parametrize(("options", "field"), [
    ({"temperature": 9.0}, "options.temperature"), ({"decode_steps": 0}, "options.decode_steps"), ({"cfg": 1}, "options.cfg")])
def test_controls_out_of_range_are_clear(resident, options, field):
    with pytest.raises(SpeechError) as caught:
        resident.run(SpeechRequest(TEXT, options=options))
    assert caught.value.field == field and caught.value.status == 422


@pytest.mark.parametrize(("text", "language", "code"), [
    ("", "auto", "text_empty"), ("!!! ...", "auto", "text_unspeakable"), ("😀", "auto", "text_unspeakable"),
    ("你好", "auto", "text_unspeakable"), ("Hello", "zh", "language_unsupported")])
def test_texts_it_cannot_speak(resident, text, language, code):
    with pytest.raises(SpeechError) as caught:
        resident.run(SpeechRequest(text, language=language))
    assert caught.value.code == code


@pytest.mark.parametrize("text", ["I", "Hi.", "a\u200bb", "Hello 😀 there ■ you", "5", "\tNew\n\nlines\r\n", "“Quotes?” she said"])
def test_odd_texts_are_spoken(resident, text):
    assert len(resident.run(SpeechRequest(text, seed=1, options=BRIEF)).samples)


def test_threads_random_state_and_console_are_as_before(start, pocket, capfd):
    torch.set_num_threads(2)
    threads, state, handlers = torch.get_num_threads(), torch.get_rng_state(), list(logging.getLogger().handlers)
    session = start(pocket)
    session.run(SpeechRequest(TEXT, seed=1, options=BRIEF))
    assert torch.get_num_threads() == threads == 2 and in_new_thread(torch.get_num_threads) == 2
    assert session.ask(lambda model: torch.get_num_threads()) == 1  # its frames are too small to share out
    assert torch.equal(torch.get_rng_state(), state) and logging.getLogger().handlers == handlers
    assert capfd.readouterr() == ("", "")


def test_warm_up_runs_every_stage(start, pocket):
    lines = []
    session = Session(start(pocket).spec, watch=lambda session, line: lines.append(line))
    session.start()
    session.wait_ready(60)
    session.close()
    assert lines[2:] == ["text", "reference encoding", "default voice", "first speech", "speech in kept buffers", "ready",
                         "unloaded"]


def test_mem_saver_keeps_no_buffers(start, pocket):
    session = start(pocket, mem_saver=True)
    session.run(SpeechRequest(TEXT, seed=1, options=BRIEF))
    assert session.ask(lambda model: model._network._spare) == {}


def test_a_missing_gpu_is_a_clear_error(pocket, spec_of):
    session = Session(replace(spec_of(pocket), device="cuda:9"))
    session.start()
    with pytest.raises(SpeechError):
        session.wait_ready(60)
    assert "cuda:9" in session.report()["reason"]


def test_paragraphs_are_followed_by_a_pause(resident):
    session = resident
    events = [event for event in session.stream(SpeechRequest("One here.\n\nTwo here.", seed=1, options=BRIEF))]
    assert not any(isinstance(event, Failed) for event in events)
    chunks = [event for event in events if isinstance(event, AudioChunk)]
    silent = [chunk for chunk in chunks if not chunk.samples.any()]
    assert len(silent) == 1 and silent[0].segment == 0


def test_a_quantised_session_speaks_and_keeps_states_of_its_own(start, pocket, clip_of):
    session = start(pocket, quantize=True)
    assert session.report()["precision"] == "int8"
    clip = clip_of(1)
    request = SpeechRequest(TEXT, seed=1, clip=clip, options=BRIEF)
    assert np.array_equal(session.run(request).samples, session.run(request).samples)
    tensors = session.ask(lambda model: model.export_voice(clip))
    other = start(pocket, quantize=True)
    other.ask(lambda model: model.import_voice(clip, tensors))
    assert np.array_equal(other.run(request).samples, session.run(request).samples)


def test_a_closed_session_leaves_no_thread(start, pocket):
    others = set(threading.enumerate())

    def own() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread not in others and thread.name.startswith("pocket-tts")]

    session = start(pocket)
    session.run(SpeechRequest(TEXT, seed=1, options=BRIEF))
    assert any(name.startswith("pocket-tts-codec") for name in own())
    session.close()
    assert not own()
