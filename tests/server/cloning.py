"""The cloning routes without a loaded model, and browsers that ask them."""
from __future__ import annotations

import secrets
from pathlib import Path

from fastapi import FastAPI
from fastapi.testclient import TestClient

from models.config import load_config
from models.pool import Pool
from server.front import full_app
from server.owner import COOKIE
from tests.served import ROOT

SPEECH = ("The harbour was quiet that morning, and only a few boats lay between the stones. "
          "We walked along the shore, talking about the summer that had gone.")


def app_of(config: Path | None = None) -> tuple[FastAPI, Pool]:
    """The routes on a pool that nobody has started."""
    pool = Pool(load_config(config or ROOT / "config.toml"))
    return full_app(pool), pool


def browser(app: FastAPI, **headers: str) -> TestClient:
    """One with a cookie, as after its first visit."""
    return TestClient(app, cookies={COOKIE: secrets.token_hex(16)}, headers=headers)


def joes_voice(served) -> bytes:
    """About 9 s of the Piper voice joe, as a WAV file."""
    answer = served.post("v1/audio/speech", {"model": "joe", "input": SPEECH, "voice": "", "response_format": "flac",
                                             "seed": 1})
    return answer.read()


def sent(client: TestClient, data: bytes, name: str = "clip.flac"):
    return client.post("api/voices/clips", files={"file": (name, data)})


def saved(client: TestClient, data: bytes, name: str = "Joe", **more) -> dict:
    """A voice of nothing but its clip."""
    clip = sent(client, data).json()["clip"]
    answer = client.post("api/voices", json={"clip": clip, "name": name, "who": "Joe himself", "consent": True,
                                             "language": "en", "transcript": SPEECH, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def refusal(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]
