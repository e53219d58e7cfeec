"""Voices made, spoken in and deleted through OpenAI's own client."""
from __future__ import annotations

import httpx
import openai
import pytest

from models.audio.decode import decode
from tests.server.cloning import SPEECH, joes_voice

FOREIGN = {"X-Forwarded-For": "203.0.113.9"}  # somebody who comes through a proxy and has no cookie


@pytest.fixture(scope="module")
def recording(served) -> bytes:
    return joes_voice(served)


@pytest.fixture(scope="module")
def voice(client, recording):
    made = client.audio.voices.create(name="Joe at the harbour", audio_sample=("joe.flac", recording, "audio/flac"),
                                      consent="Joe himself", extra_body={"language": "en", "transcript": SPEECH})
    yield made
    client.audio.voices.delete(made.id)


def test_a_recording_becomes_a_voice_that_speaks(client, voice):
    assert voice.id.startswith("my:") and voice.object == "audio.voice" and voice.type == "audio_sample"
    assert voice.name == "Joe at the harbour" and voice.created_at > 1_700_000_000 and voice.likeness > 0.5
    said = [client.audio.speech.create(model="kokoro", voice=name, input="Good morning.", response_format="flac",
                                       extra_body={"seed": 1}).content for name in (voice.id, "am_michael")]
    mine, other = (decode(data).samples for data in said)
    assert len(mine) > 10_000 and (len(mine) != len(other) or abs(mine - other).max() > 0.05)


def test_it_is_listed_with_the_models_that_speak_in_it_for_its_owner_alone(raw, voice):
    def listed(**headers: str) -> list[str]:
        every = raw.get("v1/audio/voices", headers=headers).json()["data"]
        return [entry["model"] for entry in every if entry["id"] == voice.id]

    assert listed() == ["kokoro"] and listed(**FOREIGN) == []


def test_somebody_else_can_neither_speak_in_it_nor_delete_it(raw, voice):
    for headers in (FOREIGN, {"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
        spoken = raw.post("v1/audio/speech", json={"model": "kokoro", "input": "Hi.", "voice": voice.id}, headers=headers)
        assert spoken.status_code == 400 and spoken.json()["error"]["param"] == "voice"
        assert raw.delete(f"v1/audio/voices/{voice.id}", headers=headers).status_code in (401, 403, 404)
    assert voice.id in {entry["id"] for entry in raw.get("v1/audio/voices").json()["data"]}


def test_a_deleted_voice_is_gone(client, raw, recording):
    made = client.audio.voices.create(name="For a moment", audio_sample=("a.flac", recording), consent="Joe",
                                      extra_body={"language": "en", "transcript": SPEECH})
    gone = client.audio.voices.delete(made.id)
    assert gone.deleted and gone.id == made.id
    with pytest.raises(openai.BadRequestError):
        client.audio.speech.create(model="kokoro", voice=made.id, input="Hi.")
    assert raw.delete(f"v1/audio/voices/{made.id}").status_code in (400, 404)


@pytest.mark.parametrize(("fields", "param"), [
    ({"consent": ""}, "consent"), ({"consent": "  "}, "consent"), ({"name": ""}, "name"), ({"type": "prompt"}, "type"),
    ({"shared": "perhaps"}, "shared"), ({"fit": "perhaps"}, "fit"), ({"nmae": "x"}, "nmae"), ({"language": "klingon"}, "language"),
    ({"name": "x" * 500}, "name"),
])
def test_a_field_that_is_wrong_is_named(raw, recording, fields, param):
    given = {"name": "Joe", "consent": "Joe", "language": "en", "transcript": SPEECH, **fields}
    answer = raw.post("v1/audio/voices", data=given, files={"audio_sample": ("a.flac", recording)})
    assert answer.status_code == 400 and answer.json()["error"]["param"] == param
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("data", [b"", b"not a sound" * 1000, b"RIFF\x24\x00\x00\x00WAVEfmt "])
def test_a_file_that_is_no_recording_is_refused(raw, data):
    answer = raw.post("v1/audio/voices", data={"name": "Joe", "consent": "Joe"}, files={"audio_sample": ("a.wav", data)})
    assert answer.status_code == 400 and answer.json()["error"]["message"].endswith(".")


def test_without_a_form_it_says_what_it_wants(raw):
    for body in ({"json": {"name": "Joe"}}, {"data": {"name": "Joe"}}, {"content": b"x"}):
        answer = raw.post("v1/audio/voices", **body)
        assert answer.status_code == 400 and answer.json()["error"]["param"] == "audio_sample"


def test_a_visitor_without_a_cookie_owns_nothing(raw, recording):
    answer = raw.post("v1/audio/voices", data={"name": "Joe", "consent": "Joe"}, headers=FOREIGN,
                      files={"audio_sample": ("a.flac", recording)})
    assert answer.status_code in (400, 401, 403) and httpx.codes.is_client_error(answer.status_code)
