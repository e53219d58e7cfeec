"""POST /api/stream of the served product: real models, real connections."""
from __future__ import annotations

import json
import threading
import time
import urllib.error
import uuid

import numpy as np
import pytest
from tests.waiting import until

LINE = "The morning train leaves at nine."
BOOK = " ".join(f"Chapter {number} begins here, and it tells of ships and of the people who sail them." for number in range(200))


def read(answer) -> np.ndarray:
    return np.frombuffer(answer.read(), "<i2")


def refused(served, body, language=None) -> tuple[int, dict, dict]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        served.post("api/stream", body, {"Accept-Language": language} if language else {})
    return caught.value.code, json.load(caught.value)["error"], dict(caught.value.headers)


@pytest.fixture(params=["kokoro", "joe"])
def model(request):
    return request.param


def test_a_stream_says_all_there_is_to_know(served, model):
    chosen = uuid.uuid4().hex
    with served.post("api/stream", {"text": LINE, "model": model, "id": chosen}) as answer:
        headers, samples = answer.headers, read(answer)
    rate = next(entry["sample_rate"] for entry in served.get("api/models")["models"] if entry["id"] == model)
    assert int(headers["X-Sample-Rate"]) == rate and headers["X-Request-Id"] == chosen
    assert headers["Cache-Control"] == "no-store" and headers["X-Accel-Buffering"] == "no"
    assert int(headers["X-Segments"]) == 1
    figures = served.get(f"api/requests/{chosen}")
    assert figures["state"] == "done" and figures["model"] == model and figures["language"] == "en"
    assert figures["audio_seconds"] == pytest.approx(len(samples) / rate, abs=0.001)
    assert 0 < figures["ttfa"] <= figures["total"] and figures["rtf"] > 0
    assert 1.0 < len(samples) / rate < 6.0 and np.abs(samples).max() > 2000


def test_sound_leaves_while_the_rest_is_being_made(served, model):
    with served.post("api/stream", {"text": BOOK[:2000], "model": model}) as answer:
        assert len(answer.read(2000)) == 2000
        assert served.get(f"api/requests/{answer.headers['X-Request-Id']}")["state"] == "running"
    until(served.idle)


def test_same_seed_same_sound(served, model):
    first, second, other = (read(served.post("api/stream", {"text": LINE, "model": model, "seed": seed})) for seed in (5, 5, 6))
    assert np.array_equal(first, second)
    assert len(first) != len(other) or not np.array_equal(first, other)


def test_a_closed_connection_ends_the_work(served, model):
    for wait in (False, True):
        answer = served.post("api/stream", {"text": BOOK, "model": model})
        if wait:
            answer.read(50_000)
        request = answer.headers["X-Request-Id"]
        answer.close()
        until(lambda: served.get(f"api/requests/{request}")["state"] == "cancelled", 10)
    until(served.idle, 5)


def test_neighbours_never_hear_each_other(served, model):
    texts = {number: f"This is visitor number {number}, and nobody else." for number in (3, 5, 8)}
    alone = {number: read(served.post("api/stream", {"text": text, "model": model, "seed": 1})) for number, text in texts.items()}
    heard: list[tuple[int, np.ndarray]] = []

    def visit(number):
        heard.append((number, read(served.post("api/stream", {"text": texts[number], "model": model, "seed": 1}))))

    threads = [threading.Thread(target=visit, args=(number,)) for number in [*texts, *texts]]
    [thread.start() for thread in threads]
    [thread.join(120) for thread in threads]
    assert len(heard) == 6
    for number, samples in heard:
        assert np.array_equal(samples, alone[number]), f"visitor {number} heard something else"


@pytest.mark.parametrize(("body", "status", "code", "field", "says"), [
    ({}, 422, "field_invalid", "text", "text must be"),
    ({"text": 5}, 422, "field_invalid", "text", "text must be"),
    ({"text": ""}, 422, "text_empty", "text", "type some text"),
    ({"text": "   \n\t"}, 422, "text_empty", "text", "type some text"),
    ({"text": "?!… —"}, 422, "text_unspeakable", "text", "add some words"),
    ({"text": "🎉🎉"}, 422, "text_unspeakable", "text", "add some words"),
    ({"text": "x" * 20_001}, 422, "text_too_long", "text", "limit is 20000"),
    ({"text": LINE, "speed": 9}, 422, "field_invalid", "speed", "0.5 to 2"),
    ({"text": LINE, "speed": "1"}, 422, "field_invalid", "speed", "0.5 to 2"),
    ({"text": LINE, "seed": -1}, 422, "field_invalid", "seed", "whole number"),
    ({"text": LINE, "seed": 1.5}, 422, "field_invalid", "seed", "whole number"),
    ({"text": LINE, "id": "../../etc/passwd"}, 422, "field_invalid", "id", "hexadecimal"),
    ({"text": LINE, "sped": 1}, 422, "field_unknown", "sped", "did you mean speed?"),
    ({"text": LINE, "model": "kokorro"}, 404, "model_unknown", "model", "did you mean kokoro?"),
    ({"text": LINE, "voice": "af_hart"}, 404, "voice_unknown", "voice", "af_heart"),
    ({"text": LINE, "voice": "af_heart(x)+"}, 422, "voice_mix_invalid", "voice", "af_heart(2)+am_michael(1)"),
    ({"text": LINE, "voice": "my:0123456789abcdef"}, 404, "saved_voice_unknown", "voice", "no saved voice"),
    ({"text": LINE, "voice": "af_heart+my:0123456789abcdef"}, 404, "saved_voice_unknown", "voice", "no saved voice"),
    ({"text": LINE, "voice": "my:../../etc"}, 404, "saved_voice_unknown", "voice", "no saved voice"),
    ({"text": LINE, "language": "tlh"}, 422, "language_unsupported", "language", "choose one of"),
    ({"text": LINE, "options": {"cfg": 3}}, 422, "control_unknown", "options.cfg", "no control cfg"),
    ({"text": LINE, "model": "joe", "options": {"noise_scale": 50}}, 422, "field_invalid", "options.noise_scale", "0 to 2"),
])
def test_a_bad_request_names_the_field(served, body, status, code, field, says):
    got, error, _ = refused(served, {"model": "kokoro", **body})
    assert (got, error["code"], error["field"]) == (status, code, field)
    assert says in error["message"]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"text": NaN}'])
def test_a_broken_body_is_the_callers_fault(served, raw):
    import urllib.request
    request = urllib.request.Request(served.url + "api/stream", raw, {"Content-Type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=20)
    assert caught.value.code in (400, 422) and json.load(caught.value)["error"]["message"]


def test_errors_speak_the_readers_language(served):
    assert refused(served, {"text": ""}, "zh-CN,zh;q=0.9")[1]["message"] == "请先输入文字。"
    assert refused(served, {"text": ""}, "fr, en;q=0.5")[1]["message"] == "Please type some text first."


def test_an_id_serves_once(served):
    chosen = uuid.uuid4().hex
    served.post("api/stream", {"text": LINE, "model": "joe", "id": chosen}).read()
    assert refused(served, {"text": LINE, "model": "joe", "id": chosen})[1]["field"] == "id"


@pytest.mark.parametrize("path", ["api/requests/unknown", "api/nothing", "api/requests/..%2f..%2fetc"])
def test_what_is_not_there_is_a_404_in_json(served, path):
    with pytest.raises(urllib.error.HTTPError) as caught:
        served.get(path)
    assert caught.value.code == 404 and json.load(caught.value)["error"]["code"]


def test_a_slow_reader_does_not_hold_up_others(served):
    slow = served.post("api/stream", {"text": BOOK, "model": "joe"})
    slow.read(1000)
    time.sleep(2)  # the session has made all it may for a reader who takes nothing
    assert len(read(served.post("api/stream", {"text": LINE, "model": "joe"}))) > 10_000
    slow.close()
    until(served.idle)


def test_mixes_are_voices_too(served):
    one, two, mix = (read(served.post("api/stream", {"text": LINE, "model": "kokoro", "voice": voice, "seed": 1}))
                     for voice in ("af_heart", "am_michael", "af_heart(2)+am_michael(1)"))
    assert not np.array_equal(mix[:20_000], one[:20_000]) and not np.array_equal(mix[:20_000], two[:20_000])
