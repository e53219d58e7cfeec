"""What is wrong with a request is the caller's fault, and said so: the fields one by one, then hundreds of bodies."""
from __future__ import annotations

import json

import httpx
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LINE = "The morning train leaves at nine."
MULTIPART = "multipart/form-data; boundary=line"


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
    ({"voice": "my:0123456789abcdef"}, 400, "voice", "no saved voice"),
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


# -- hundreds of bodies that are wrong somewhere

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(
        ["", "\ud800", "\0", "../../etc/passwd", "af_heart+", "(" * 50, "auto", "kokoro", 10**400, -1, 1e308]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.just("id"), inner, max_size=3),
    max_leaves=6)
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
    MULTIPART, "multipart/form-data", f"{MULTIPART}; charset=hex", "multipart/form-data; boundary=", "text/plain",
    "multipart/form-data; boundary=line; charset=raw_unicode_escape"]), st.sampled_from([
        b"", b"--line\r\n", b'--line\r\nContent-Disposition: form-data; name="\\ud800"\r\n\r\n',
        b'--line\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n']), st.booleans())
def test_no_form_is_our_fault(raw, middle, kind, start, closed):
    data = start + middle + (b"\r\n--line--\r\n" if closed else b"")
    the_callers_fault(raw.post("v1/audio/transcriptions", content=data, headers={"Content-Type": kind}))


@pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"input": "\xed\xa0\x80"}',
                                  b'{"\\ud800": 1}', b"NaN", b" " * 5_000_000])
@pytest.mark.parametrize("path", ["v1/audio/speech", "api/stream"])
def test_what_is_no_json_is_the_callers_fault(raw, path, data):
    answer = raw.post(path, content=data, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 413) and answer.json()["error"]["message"]
