"""Speech and the lists of OpenAI's API on the served product, through OpenAI's own client where it can ask for it."""
from __future__ import annotations

import asyncio
import base64
import json
import time

import httpx
import numpy as np
import openai
import pytest

from models.audio.decode import decode
from models.audio.streaming import FORMATS, PCM_RATE
from models.config import load_config
from models.pool import Pool
from server.front import early_app
from server.openai.speech import OpenAISpeechBody, speech_request
from tests.listening import transcribe, word_error_rate
from tests.served import serve
from tests.waiting import until

LINE = "The morning train leaves at nine."
BOOK = " ".join(f"Chapter {number} begins here, and it tells of ships and of those who sail." for number in range(70))


def sound(data: bytes, form: str) -> tuple[np.ndarray, int]:
    if form == "pcm":
        return np.frombuffer(data, "<i2").astype(np.float32) / 32768, PCM_RATE
    read = decode(data)
    assert not read.broken
    return read.samples, read.sample_rate


def events(answer: httpx.Response) -> list[dict]:
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]


# -- speech


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_the_text(client, form):
    answer = client.audio.speech.with_raw_response.create(
        model="joe", input=LINE, voice="alloy", response_format=form, extra_body={"seed": 1})
    assert answer.headers["content-type"] == FORMATS[form].mime and answer.headers["x-request-id"]
    samples, rate = sound(answer.content, form)
    assert 1.0 < len(samples) / rate < 6.0
    assert word_error_rate(LINE, transcribe(samples, rate, "en").replace("9", "nine")) <= 0.15


@pytest.mark.parametrize("model", ["kokoro", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"])
def test_the_names_openais_clients_know_speak(client, served, model):
    answer = client.audio.speech.with_raw_response.create(
        model=model, input="Good morning.", voice={"id": "nova"}, instructions="Be cheerful.", speed=1.5)
    figures = served.get(f"api/requests/{answer.headers['x-request-id']}")
    kokoro = next(entry for entry in served.get("api/models")["models"] if entry["id"] == "kokoro")
    assert (figures["model"], figures["voice"]) == ("kokoro", kokoro["default_voice"]["en"])
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
                # before the loop is left: that hangs up
                figures = served.get(f"api/requests/{answer.headers['x-request-id']}")
                break
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


def test_instructions_reach_the_models_that_can_be_told(tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[[models]]\nid = "joe"\nfamily = "vits"\n[[models]]\nid = "vox"\nfamily = "voxcpm"\n')
    pool = Pool(load_config(config))
    for model, options in (("vox", {"instruction": "Whisper."}), ("joe", {})):
        body = OpenAISpeechBody(model=model, input=LINE, voice="alloy", instructions="Whisper.")
        assert speech_request(body, pool, time.monotonic()).options == options
    pool.close()


# -- when it is full, slow or not open yet


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """One model, one request at a time, and not for long."""
    config = tmp_path_factory.mktemp("small") / "config.toml"
    config.write_text('[server]\ndeadline = 4\n[[models]]\nid = "joe"\nfamily = "vits"\nqueue_limit = 1\n')
    with serve(config) as running:
        yield running


def test_a_full_queue_asks_to_come_back(small):
    with openai.OpenAI(base_url=small.url + "v1", api_key="none", max_retries=0) as client:
        with small.post("v1/audio/speech", {"model": "joe", "input": BOOK, "response_format": "pcm"}):
            with pytest.raises(openai.InternalServerError) as caught:  # that one is read slowly and not over yet
                client.audio.speech.create(model="tts-1", input=LINE, voice="alloy")
    assert caught.value.status_code == 503 and int(caught.value.response.headers["retry-after"]) > 0
    assert caught.value.code == "queue_full"
    until(small.idle)


def test_what_fails_after_its_first_sound_says_so_in_the_events(small):
    body = {"model": "joe", "input": BOOK * 3, "response_format": "pcm", "stream_format": "sse"}
    with httpx.stream("POST", small.url + "v1/audio/speech", json=body, timeout=60) as answer:
        until(lambda: small.get(f"api/requests/{answer.headers['x-request-id']}")["state"] == "failed")
        answer.read()
        first, *_, last = events(answer)
    assert first["type"] == "speech.audio.delta" and last["type"] == "error"
    assert last["error"]["code"] == "deadline" and last["error"]["type"] == "server_error"


async def _before_it_opens(pool: Pool) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(early_app(pool)), base_url="http://early") as early:
        return await early.get("v1/models")


def test_before_it_is_warm_it_asks_to_come_back(tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[[models]]\nid = "joe"\nfamily = "vits"\n')
    answer = asyncio.run(_before_it_opens(Pool(load_config(config))))
    assert answer.status_code == 503 and answer.headers["retry-after"]
    assert answer.json()["error"]["type"] == "server_error"


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
    ours = {"/v1/audio/speech", "/v1/audio/transcriptions", "/v1/models", "/v1/audio/voices", "/api/stream"}
    assert ours <= set(document["paths"])
    assert "$ref" not in json.dumps(document["paths"]["/v1/audio/speech"]["post"]["requestBody"])
