"""Transcriptions on the served product."""
from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.waiting import until

MULTIPART = "multipart/form-data; boundary=line"


@pytest.fixture(scope="module")
def clip(client) -> bytes:
    text = "The morning train leaves at nine.\n\nThe evening train leaves at ten."
    return client.audio.speech.create(model="kokoro", input=text, voice="alloy", extra_body={"seed": 1}).content


@pytest.mark.parametrize("form", ["json", "text", "verbose_json", "srt", "vtt"])
def test_a_recording_is_written_down(client, clip, form):
    said = client.audio.transcriptions.create(
        model="whisper-1", file=("said.mp3", clip), language="en", response_format=form)
    text = said if isinstance(said, str) else said.text
    assert "morning train" in text and "evening train" in text
    if form == "verbose_json":
        assert said.language == "en" and 2 < said.duration < 10 and "".join(one.text for one in said.segments)
        times = [time for one in said.segments for time in (one.start, one.end)]
        assert times == sorted(times) and 0 <= times[0] < 1 and 2 < times[-1] <= said.duration
    if form == "srt":
        assert text.startswith("1\n00:00:0") and text.count(" --> ") == text.rstrip().count("\n\n") + 1
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
    ({"stream": "true"}, b"x", 400, "stream"),
    ({"timestamp_granularities[]": "line"}, b"x", 400, "timestamp_granularities[]"),
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
