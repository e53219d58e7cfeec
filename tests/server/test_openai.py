"""The routes of OpenAI's audio API on the served product, through OpenAI's own client where it can ask for it."""
from __future__ import annotations

import base64
import io
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.audio.decode import decode
from models.audio.streaming import FORMATS, PCM_RATE
from tests.listening import transcribe, word_error_rate
from tests.served import serve

LINE = "The morning train leaves at nine."
BOOK = " ".join(f"Chapter {number} begins here, and it tells of ships and of the people who sail them." for number in range(60))
MULTIPART = "multipart/form-data; boundary=line"


@pytest.fixture(scope="module")
def client(served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=served.url + "v1", api_key="none", max_retries=0, timeout=120) as client:
        yield client


@pytest.fixture(scope="module")
def raw(served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def clip(client) -> bytes:
    return client.audio.speech.create(model="joe", input=f"{LINE} The evening train leaves at ten.", voice="alloy").content


def sound(data: bytes, form: str) -> tuple[np.ndarray, int]:
    if form == "pcm":
        return np.frombuffer(data, "<i2").astype(np.float32) / 32768, PCM_RATE
    read = decode(data)
    assert not read.broken
    return read.samples, read.sample_rate


def until(true, seconds=15.0):
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "did not happen in time"
        time.sleep(0.01)


def events(answer: httpx.Response) -> list[dict]:
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]


# -- speech


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_the_text(client, form):
    answer = client.audio.speech.with_raw_response.create(model="joe", input=LINE, voice="alloy", response_format=form)
    assert answer.headers["content-type"] == FORMATS[form].mime and answer.headers["x-request-id"]
    samples, rate = sound(answer.content, form)
    assert 1.0 < len(samples) / rate < 6.0
    assert word_error_rate(LINE, transcribe(samples, rate, "en").replace("9", "nine")) == 0


@pytest.mark.parametrize("model", ["kokoro", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"])
def test_the_names_openais_clients_know_speak(client, served, model):
    answer = client.audio.speech.with_raw_response.create(
        model=model, input="Good morning.", voice={"id": "nova"}, instructions="Be cheerful.", speed=1.5)
    figures = served.get(f"api/requests/{answer.headers['x-request-id']}")
    default = next(entry["default_voice"]["en"] for entry in served.get("api/models")["models"] if entry["id"] == "kokoro")
    assert (figures["model"], figures["voice"]) == ("kokoro", default)
    assert answer.content.startswith(b"ID3")


def test_a_models_own_voice_speed_and_seed_are_heeded(client, served):
    def asked(**more) -> tuple[bytes, str]:
        answer = client.audio.speech.with_raw_response.create(
            model="kokoro", input="Good morning.", response_format="wav", extra_body={"seed": 3}, **more)
        return answer.content, served.get(f"api/requests/{answer.headers['x-request-id']}")["voice"]

    michael, again, fast = asked(voice="am_michael"), asked(voice="am_michael"), asked(voice="am_michael", speed=2.0)
    assert michael == again and michael[1] == "am_michael"
    assert len(fast[0]) < 0.75 * len(michael[0])


@pytest.mark.parametrize("form", FORMATS)
def test_the_first_bytes_leave_while_the_rest_is_being_made(client, served, form):
    with client.audio.speech.with_streaming_response.create(
            model="joe", input=BOOK, voice="alloy", response_format=form) as answer:
        got = b""
        for piece in answer.iter_bytes(1024):
            got += piece
            if len(got) >= (40_000 if form == "flac" else 4096):  # FFmpeg's reader of FLAC wants some frames ahead
                break
        figures = served.get(f"api/requests/{answer.headers['x-request-id']}")
        assert figures["state"] == "running" and figures["segments_done"] < figures["segments"]
        if form != "pcm":
            assert len(decode(got).samples) > 1000
        request = answer.headers["x-request-id"]
    until(lambda: served.get(f"api/requests/{request}")["state"] == "cancelled")
    until(served.idle)


@pytest.mark.parametrize("form", ["mp3", "pcm", "wav"])
def test_events_describe_themselves(raw, form):
    text = f"{LINE} {BOOK[:400]}"
    answer = raw.post("v1/audio/speech", json={"model": "joe", "input": text, "voice": "alloy", "response_format": form,
                                               "stream_format": "sse"})
    *deltas, done = events(answer)
    assert {event["type"] for event in deltas} == {"speech.audio.delta"} and done["type"] == "speech.audio.done"
    assert [event["index"] for event in deltas] == list(range(len(deltas))) and len(deltas) > 3
    offsets = [event["offset"] for event in deltas]
    assert offsets == sorted(offsets) and offsets[0] == 0
    samples, rate = sound(b"".join(base64.b64decode(event["audio"]) for event in deltas), form)
    assert {event["sample_rate"] for event in deltas} == {rate}
    assert done["usage"]["total_tokens"] == len(text)
    assert done["metrics"]["state"] == "done" and done["metrics"]["ttfa"] > 0
    assert done["metrics"]["audio_seconds"] == pytest.approx(len(samples) / rate, abs=0.1)
    assert offsets[-1] < done["metrics"]["audio_seconds"] + 0.01
    if form == "pcm":  # where a piece begins is where its samples begin
        lengths = [len(base64.b64decode(event["audio"])) / 2 / rate for event in deltas]
        for number, offset in enumerate(offsets):
            assert offset == pytest.approx(sum(lengths[:number]), abs=0.05)


# -- what is refused


@pytest.mark.parametrize(("change", "status", "param", "says"), [
    ({"input": None}, 400, "input", "input must be"),
    ({"input": ""}, 400, "input", "type some text"),
    ({"input": "?!"}, 400, "input", "add some words"),
    ({"input": "x" * 20_001}, 400, "input", "limit is 20000"),
    ({"input": "half \ud800 a sign"}, 400, None, "not valid JSON"),
    ({"model": 5}, 400, "model", "model must be"),
    ({"model": "kokorro"}, 404, "model", "did you mean kokoro?"),
    ({"voice": "af_hart"}, 400, "voice", "af_heart"),
    ({"voice": {"name": "x"}}, 400, "voice", "an object with it as its id"),
    ({"voice": "my:0123456789abcdef"}, 403, "voice", "command line"),
    ({"speed": 0.25}, 400, "speed", "0.5 to 2"),
    ({"speed": 4}, 400, "speed", "0.5 to 2"),
    ({"speed": 10**400}, 400, "speed", "0.5 to 2"),
    ({"response_format": "ogg"}, 400, "response_format", "mp3, opus, aac, flac, wav, pcm"),
    ({"stream_format": "ws"}, 400, "stream_format", "audio or sse"),
    ({"instructions": []}, 400, "instructions", "how to speak"),
    ({"language": "tlh"}, 400, "language", "choose one of"),
    ({"options": {"cfg": 3}}, 400, "options.cfg", "no control cfg"),
    ({"sped": 1}, 400, "sped", "did you mean speed?"),
])
def test_a_bad_field_is_named(raw, change, status, param, says):
    body = {"model": "kokoro", "input": LINE, "voice": "alloy", **change}
    answer = raw.post("v1/audio/speech", content=json.dumps(body), headers={"Content-Type": "application/json"})
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["type"]) == (status, param, "invalid_request_error")
    assert says in error["message"] and set(error) == {"message", "type", "param", "code"}


def test_the_official_client_raises_its_own_errors(client):
    with pytest.raises(openai.NotFoundError) as caught:
        client.audio.speech.create(model="tts-9", input=LINE, voice="alloy")
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError) as caught:
        client.audio.speech.create(model="tts-1", input=LINE, voice="alloy", speed=4)
    assert caught.value.param == "speed"


@pytest.mark.parametrize(("method", "path", "status"), [
    ("GET", "v1/nothing", 404), ("POST", "v1/chat/completions", 404), ("GET", "v1/audio/speech", 405),
    ("DELETE", "v1/models", 405), ("GET", "v1/models/none", 404), ("GET", "v1/audio/voices?model=none", 404)])
def test_what_is_not_there_is_said_in_openais_shape(raw, method, path, status):
    answer = raw.request(method, path)
    assert answer.status_code == status and answer.json()["error"]["type"] == "invalid_request_error"


def test_a_full_queue_asks_to_come_back(tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[[models]]\nid = "joe"\nfamily = "vits"\nqueue_limit = 1\n')
    with serve(config) as one, openai.OpenAI(base_url=one.url + "v1", api_key="none", max_retries=0) as client:
        with one.post("v1/audio/speech", {"model": "joe", "input": BOOK, "response_format": "pcm"}):
            with pytest.raises(openai.InternalServerError) as caught:  # that one is read slowly and not over yet
                client.audio.speech.create(model="tts-1", input=LINE, voice="alloy")
    assert caught.value.status_code == 503 and int(caught.value.response.headers["retry-after"]) > 0
    assert caught.value.code == "queue_full"


# -- lists and the page of all routes


def test_models_and_voices_are_listed(client, raw, served):
    listed = {model.id for model in client.models.list()}
    assert {"kokoro", "joe", "tts-1", "whisper-1"} <= listed
    assert client.models.retrieve("joe").owned_by == "vits"
    every = raw.get("v1/audio/voices").json()["data"]
    kokoro = raw.get("v1/audio/voices", params={"model": "kokoro"}).json()["data"]
    known = next(entry["voices"] for entry in served.get("api/models")["models"] if entry["id"] == "kokoro")
    assert [voice["id"] for voice in kokoro] == [voice["id"] for voice in known] and len(every) > len(kokoro)


def test_the_page_of_all_routes_asks_nobody_else(raw):
    page = raw.get("api/docs")
    assert page.status_code == 200 and "openapi.json" in page.text
    assert "http:" not in page.text and "https:" not in page.text and 'src="' not in page.text
    document = raw.get("api/openapi.json").json()
    assert {"/v1/audio/speech", "/v1/audio/transcriptions", "/v1/models", "/v1/audio/voices", "/api/stream"} <= set(document["paths"])
    assert "$ref" not in json.dumps(document["paths"]["/v1/audio/speech"]["post"]["requestBody"])


# -- transcriptions


@pytest.mark.parametrize("form", ["json", "text", "verbose_json", "srt", "vtt"])
def test_a_recording_is_written_down(client, clip, form):
    said = client.audio.transcriptions.create(model="whisper-1", file=("said.mp3", clip), language="en", response_format=form)
    text = said if isinstance(said, str) else said.text
    assert "morning train" in text and "evening train" in text
    if form == "verbose_json":
        assert said.language == "en" and 2 < said.duration < 10 and len(said.segments) == 2
        assert 0 <= said.segments[0].start < said.segments[0].end <= said.segments[1].start
    if form == "srt":
        assert text.startswith("1\n00:00:0") and text.count(" --> ") == 2
    if form == "vtt":
        assert text.startswith("WEBVTT\n\n00:00:0")


def test_words_have_their_times(client, clip):
    said = client.audio.transcriptions.create(
        model="whisper-1", file=("said.mp3", clip), response_format="verbose_json", timestamp_granularities=["word"])
    assert len(said.words) > 8 and said.segments is None
    assert all(first.start <= second.start for first, second in zip(said.words, said.words[1:]))


@pytest.mark.parametrize(("fields", "file", "status", "param"), [
    ({}, None, 400, "file"), ({}, b"", 400, "file"), ({}, b"no sound at all", 400, "file"),
    ({}, b"RIFF\xff\xff\xff\xffWAVEjunk", 400, "file"), ({"model": "whisper-9"}, b"x", 404, "model"),
    ({"language": "klingon"}, b"x", 400, "language"), ({"response_format": "xml"}, b"x", 400, "response_format"),
    ({"stream": "true"}, b"x", 400, "stream"), ({"timestamp_granularities[]": "line"}, b"x", 400, "timestamp_granularities[]"),
    ({"lang": "en"}, b"x", 400, "lang"),
])
def test_a_bad_form_names_the_field(raw, fields, file, status, param):
    files = {"file": ("a.wav", file)} if file is not None else {"prompt": (None, "a")}
    answer = raw.post("v1/audio/transcriptions", data=fields, files=files)
    assert (answer.status_code, answer.json()["error"]["param"]) == (status, param)


def test_more_than_can_wait_are_asked_to_come_back(raw, clip):
    def ask(_) -> httpx.Response:
        return raw.post("v1/audio/transcriptions", files={"file": ("a.mp3", clip)}, data={"response_format": "text"})

    with ThreadPoolExecutor(12) as callers:
        answers = list(callers.map(ask, range(12)))
    refused = [answer for answer in answers if answer.status_code != 200]
    assert len(refused) >= 2 and all("morning train" in answer.text for answer in answers if answer not in refused)
    for answer in refused:
        assert answer.status_code == 503 and int(answer.headers["retry-after"]) > 0
        assert answer.json()["error"]["type"] == "server_error"


def test_those_who_hang_up_are_not_waited_for(served, raw, clip):
    form = httpx.Request("POST", served.url + "v1/audio/transcriptions", files={"file": ("a.mp3", clip * 20)})
    head = f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nContent-Type: {form.headers['content-type']}\r\n"
    data = form.read()
    for _ in range(8):
        with socket.create_connection(("127.0.0.1", form.url.port)) as line:
            line.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    until(lambda: raw.post("v1/audio/transcriptions", files={"file": ("a.mp3", clip)}).status_code == 200, 30)


@pytest.mark.parametrize("told", [True, False])
def test_a_large_upload_is_cut_off_while_it_comes(raw, told):
    def pieces():
        yield b'--line\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
        for _ in range(60):
            yield bytes(1_000_000)

    headers = {"Content-Type": MULTIPART, **({"Content-Length": str(60_000_073)} if told else {})}
    answer = raw.post("v1/audio/transcriptions", content=pieces(), headers=headers)
    assert answer.status_code == 413 and "20 MB" in answer.json()["error"]["message"]


# -- hundreds of bodies that are wrong somewhere

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(
        ["", "\ud800", "\0", "../../etc/passwd", "af_heart+", "(" * 50, "auto", "kokoro", 10**400, -1, 1e308]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.just("id"), inner, max_size=3), max_leaves=6)
fields = st.dictionaries(
    st.sampled_from(["model", "input", "voice", "instructions", "response_format", "speed", "stream_format", "language",
                     "seed", "options"]) | st.text(max_size=6), junk, max_size=6)
quick = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


def the_callers_fault(answer: httpx.Response) -> None:
    assert answer.status_code in (400, 403, 404, 413), answer.text
    assert answer.json()["error"]["message"]


@quick
@given(junk | fields)
def test_no_body_is_our_fault(raw, body):
    """What happens to be a fair request is spoken, and hung up on."""
    data = json.dumps(body).encode()
    with raw.stream("POST", "v1/audio/speech", content=data, headers={"Content-Type": "application/json"}) as answer:
        if answer.status_code != 200:
            answer.read()
            the_callers_fault(answer)


@quick
@given(fields)
def test_no_field_is_our_fault(raw, body):
    """All else is right, so that the body comes further."""
    data = json.dumps({"model": "joe", "input": "?!", "voice": "alloy", **body}).encode()
    with raw.stream("POST", "v1/audio/speech", content=data, headers={"Content-Type": "application/json"}) as answer:
        if answer.status_code != 200:
            answer.read()
            the_callers_fault(answer)


@settings(quick, max_examples=150)
@given(st.binary(max_size=200), st.sampled_from([
    MULTIPART, "multipart/form-data", "multipart/form-data; boundary=line; charset=hex", "multipart/form-data; boundary=",
    "text/plain", "multipart/form-data; boundary=line; charset=raw_unicode_escape"]), st.sampled_from([
        b"", b"--line\r\n", b'--line\r\nContent-Disposition: form-data; name="\\ud800"\r\n\r\n',
        b'--line\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n']), st.booleans())
def test_no_form_is_our_fault(raw, middle, kind, start, closed):
    data = start + middle + (b"\r\n--line--\r\n" if closed else b"")
    the_callers_fault(raw.post("v1/audio/transcriptions", content=data, headers={"Content-Type": kind}))


@pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"input": "\xed\xa0\x80"}', b'{"\\ud800": 1}', b"NaN",
                                  b" " * 5_000_000])
@pytest.mark.parametrize("path", ["v1/audio/speech", "api/stream"])
def test_what_is_no_json_is_the_callers_fault(raw, path, data):
    answer = raw.post(path, content=data, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 413) and answer.json()["error"]["message"]
