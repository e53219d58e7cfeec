"""Saved voices in speech requests: for their owner, in every kind of model, and marked in the file."""
from __future__ import annotations

import io
import time

import av
import httpx
import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient

from models.audio.decode import decode
from models.audio.streaming import FORMATS
from models.events import SpeechRequest
from models.voices.library import Library
from models.voices.speaker import likeness, speaker_encoder
from server import prepared
from tests.checkpoints import make_pocket_tts
from tests.listening import transcribe, word_error_rate
from tests.server.cloning import app_of, browser, joes_voice, refusal, saved, sent
from tests.waiting import until

LINE = "The morning train leaves at nine, and nobody knows why."


@pytest.fixture(scope="module")
def joe(served) -> bytes:
    return joes_voice(served)


def visitor(served) -> httpx.Client:
    client = httpx.Client(base_url=served.url, timeout=600)
    assert client.get("").headers["set-cookie"]
    return client


@pytest.fixture(scope="module")
def anna(served):
    client = visitor(served)
    yield client
    client.close()


@pytest.fixture(scope="module")
def ben(served):
    client = visitor(served)
    yield client
    client.close()


@pytest.fixture(scope="module")
def voice(served, anna, joe) -> dict:
    """Joe, as the blend of stock voices most like him."""
    clip = sent(anna, joe).json()["clip"]
    begun = anna.post(f"api/voices/clips/{clip}/preview")
    assert begun.status_code == 202
    body = {"clip": clip, "name": "Joe", "who": "Joe himself", "consent": True, "language": "en"}
    if begun.json()["preview"]["state"] != "done":
        assert refusal(anna.post("api/voices", json=body)) == (409, "fit_busy")
    while (report := anna.get(f"api/voices/clips/{clip}").json()["preview"])["state"] in ("waiting", "running"):
        time.sleep(0.2)
    assert report["state"] == "done" and 0.5 < report["likeness"] < 1 and "(" in report["voice"]
    kept = anna.post("api/voices", json=body).json()
    assert kept["fitted"] and kept["likeness"] == report["likeness"]
    return kept


def spoken(client, voice: str, path: str = "api/stream", **more):
    body = {"text": LINE, "model": "kokoro", "voice": voice, "seed": 1, **more}
    if path.startswith("v1"):
        body["input"] = body.pop("text")
    return client.post(path, json=body)


def samples_of(answer) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    return np.frombuffer(answer.content, "<i2").astype(np.float32) / 32768


def test_it_speaks_and_is_nearer_to_its_speaker_than_stock_voices(anna, voice, joe):
    encoder, clip = speaker_encoder(), decode(joe)
    target = encoder.embed(clip.samples, clip.sample_rate)
    own = samples_of(spoken(anna, voice["voice"]))
    assert word_error_rate(LINE, transcribe(own, 24_000, "en").replace("9", "nine")) <= 0.1
    others = [samples_of(spoken(anna, name)) for name in ("bm_george", "af_heart", "af_bella")]  # none that is in the blend
    near = likeness(encoder.embed(own, 24_000), target)
    assert all(likeness(encoder.embed(other, 24_000), target) < near for other in others)


@pytest.mark.parametrize("path", ["api/stream", "v1/audio/speech"])
def test_nobody_else_speaks_in_it(served, anna, ben, voice, path):
    stranger = httpx.Client(base_url=served.url, timeout=60)  # has no cookie
    cookie = "; ".join(f"{name}={value}" for name, value in anna.cookies.items())
    for name in (voice["voice"], f"af_heart+{voice['voice']}", f"{voice['voice']}(2)+am_michael", f" {voice['voice']} "):
        for client, headers in ((ben, {}), (stranger, {}), (stranger, {"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}),
                                (stranger, {"Cookie": cookie, "Origin": "http://evil.example.org"})):
            body = {"text" if path == "api/stream" else "input": LINE, "model": "kokoro", "voice": name}
            answer = client.post(path, json=body, headers=headers)
            assert refusal(answer) == (404 if path == "api/stream" else 400, "saved_voice_unknown"), (name, headers)
    assert spoken(anna, voice["voice"], path).status_code == 200
    stranger.close()


def test_what_is_shared_speaks_for_all(served, anna, ben, voice):
    anna.patch(f"api/voices/{voice['id']}", json={"shared": True})
    stranger = httpx.Client(base_url=served.url, timeout=60)
    try:
        sounds = [samples_of(spoken(client, voice["voice"])) for client in (anna, ben, stranger)]
        assert np.array_equal(sounds[0], sounds[1]) and np.array_equal(sounds[0], sounds[2])
    finally:
        anna.patch(f"api/voices/{voice['id']}", json={"shared": False})
        stranger.close()
    assert refusal(spoken(ben, voice["voice"])) == (404, "saved_voice_unknown")


def test_mixes_with_it_are_something_else(anna, voice):
    own, mixed = (samples_of(spoken(anna, name)) for name in (voice["voice"], f"{voice['voice']}(1)+af_heart(2)"))
    assert not np.array_equal(own[:20_000], mixed[:20_000])


def test_a_deleted_voice_is_silent_until_it_is_brought_back(anna, voice):
    anna.delete(f"api/voices/{voice['id']}")
    assert refusal(spoken(anna, voice["voice"])) == (404, "saved_voice_unknown")
    anna.post(f"api/voices/{voice['id']}/undo")
    assert spoken(anna, voice["voice"]).status_code == 200


def test_models_that_can_not_say_so(anna, voice, joe):
    answer = spoken(anna, voice["voice"], model="joe")
    assert refusal(answer) == (422, "saved_voice_unsupported") and "kokoro" in answer.json()["error"]["message"]
    bare = saved(anna, joe, name="Bare")
    answer = spoken(anna, bare["voice"])
    assert refusal(answer) == (409, "saved_voice_unfitted") and "Bare" in answer.json()["error"]["message"]
    assert spoken(anna, voice["voice"], model="auto").status_code == 200  # it finds one that can
    assert {entry["id"]: entry["saved_voices"] for entry in anna.get("api/models").json()["models"]} == {"kokoro": "fitted", "joe": ""}


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "pcm"])
def test_every_file_says_whose_voice_it_copies(anna, voice, form):
    for name, wanted in ((voice["voice"], 'in the cloned voice "Joe"'), ("af_heart", "Synthetic speech by ReadyVoice: no")):
        answer = spoken(anna, name, "v1/audio/speech", response_format=form)
        with av.open(io.BytesIO(answer.content)) as file:
            tags = {key.lower(): value for key, value in {**file.metadata, **file.streams.audio[0].metadata}.items()}
        assert wanted in tags["comment"]


def test_a_fit_makes_it_better_and_stops_when_told_to(anna, joe):
    clip = sent(anna, joe).json()["clip"]
    address = f"api/voices/clips/{clip}"
    assert refusal(anna.get(f"{address}/sample")) == (409, "fit_missing")
    assert anna.post(f"{address}/fit").status_code == 202
    while (report := anna.get(address).json()["fit"]).get("step", 0) < 2 and report["state"] in ("waiting", "running"):
        time.sleep(0.2)
    assert report["state"] == "running" and report["steps"] > 10, report
    assert anna.post(f"{address}/fit").json()["fit"]["state"] == "running"  # it is not begun twice
    anna.post(f"{address}/fit/stop")
    while (report := anna.get(address).json()["fit"])["state"] == "running":
        time.sleep(0.2)
    assert report["state"] == "done" and report["step"] < report["steps"]
    assert report["likeness"] >= report["before_likeness"] > 0.4
    sample = decode(anna.get(f"{address}/sample").content)
    assert 1 < sample.seconds < 6
    kept = anna.post("api/voices", json={"clip": clip, "name": "Fitted", "who": "Joe", "consent": True}).json()
    assert kept["fitted"] and kept["likeness"] == report["likeness"]
    assert spoken(anna, kept["voice"]).status_code == 200


# -- models that clone from the clip


@pytest.fixture
def studio(tmp_path, monkeypatch):
    """A tiny Pocket TTS that has no voice but the clip's, loaded, behind the routes."""
    monkeypatch.setenv("READYVOICE_VOICES", str(tmp_path / "voices"))
    checkpoint = make_pocket_tts.tiny(tmp_path / "pocket")
    config = tmp_path / "config.toml"
    config.write_text(f'[[models]]\nid = "pocket"\nfamily = "pocket_tts"\npath = "{checkpoint}"\ndevice = "cpu"\n'
                      'precision = "float32"\n')
    app, pool = app_of(config)
    pool.start()
    pool.wait_ready(120)
    yield app, pool
    pool.close()


def test_a_model_that_clones_hears_the_clip_and_remembers_it(studio, joe):
    app, pool = studio
    anna, ben = browser(app), browser(app)
    mine = saved(anna, joe)
    assert anna.get("api/models").json()["models"][0]["saved_voices"] == "clip"
    brief = {"model": "pocket", "options": {"eos_threshold": -20.0}}

    def caches(client: TestClient, voice: str) -> tuple[np.ndarray, dict]:
        answer = spoken(client, voice, **brief)
        return samples_of(answer), client.get(f"api/requests/{answer.headers['x-request-id']}").json()["caches"]

    (first, missed), (second, hit) = caches(anna, mine["voice"]), caches(anna, mine["voice"])
    assert set(missed.values()) == {"miss"} and set(hit.values()) == {"hit"} and np.array_equal(first, second)
    direct = pool.session("pocket").run(SpeechRequest(LINE, "pocket", seed=1, options=brief["options"],
                                                      clip=Library().clip(mine["id"], None)))
    assert direct.metrics.caches == hit  # the very clip that was saved, with its transcript
    assert refusal(spoken(ben, mine["voice"], **brief)) == (404, "saved_voice_unknown")
    assert refusal(spoken(anna, f"{mine['voice']}+alba", **brief)) == (422, "saved_mix_unsupported")
    assert samples_of(spoken(anna, mine["voice"], **{**brief, "model": "auto"})).size > 0
    anna.patch(f"api/voices/{mine['id']}", json={"transcript": "Other words were said."})
    assert set(caches(anna, mine["voice"])[1].values()) == {"miss"}


@pytest.mark.parametrize("pinned", [False, True])
def test_what_it_made_of_the_clip_is_there_after_a_restart(studio, joe, tmp_path, pinned):
    app, pool = studio
    anna = browser(app)
    mine = saved(anna, joe)
    brief = {"model": "pocket", "options": {"eos_threshold": -20.0}}
    before = samples_of(spoken(anna, mine["voice"], **brief))
    until(lambda: Library().state(mine["id"], None, "pocket") is not None, 20)
    if pinned:
        assert anna.patch(f"api/voices/{mine['id']}", json={"pinned": True}).json()["pinned"] is True
    again, later = app_of(tmp_path / "config.toml")
    later.start()
    later.wait_ready(120)
    try:
        prepared.ready_pinned(later)
        session = later.session("pocket")
        cached = session.ask(lambda model: model.slots()[0].report()["entries"])
        client = browser(again)
        client.cookies = anna.cookies
        answer = spoken(client, mine["voice"], **brief)
        told = client.get(f"api/requests/{answer.headers['x-request-id']}").json()
        assert set(told["caches"].values()) == {"hit"} and told["voice_prepare"] < 0.05
        assert np.array_equal(samples_of(answer), before)
        assert session.ask(lambda model: model.slots()[0].report()["entries"]) == (cached if pinned else cached + 1)
    finally:
        later.close()


def test_a_kept_state_of_another_checkpoint_is_made_anew(studio, joe):
    app, pool = studio
    anna = browser(app)
    mine = saved(anna, joe)
    Library().put_state(mine["id"], None, "pocket", {"something": torch.zeros(3)})
    brief = {"model": "pocket", "options": {"eos_threshold": -20.0}}
    assert samples_of(spoken(anna, mine["voice"], **brief)).size > 0
    until(lambda: "something" not in Library().state(mine["id"], None, "pocket"), 20)
