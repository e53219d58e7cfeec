"""The server's first and last moments."""
from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import httpx
import psutil
import pytest

from models.voices import transcribe
from models.weights import home
from tests.served import ROOT, free_port
from tests.server.cloning import SPEECH
from tests.waiting import until

CONFIG = '[server]\ndeadline = 8\n[[models]]\nid = "joe"\nfamily = "vits"\n'
BOOK = "It was a long way to the sea, and nobody knew the road. " * 300


@contextmanager
def starting(tmp_path, config=CONFIG, port=None):
    """The server's process and address from its first moment on."""
    path, port = tmp_path / "config.toml", port or free_port()
    path.write_text(config)
    command = [sys.executable, str(ROOT / "app.py"), "serve", "--config", str(path), "--port", str(port),
               "--log-file", str(tmp_path / "log.txt")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path) as process:
        try:
            yield process, f"http://127.0.0.1:{port}/"
        finally:
            process.kill()


def ask(url, body=None):
    """(status, headers, text); None while nobody listens."""
    request = urllib.request.Request(url, body and json.dumps(body).encode(), {"Accept-Language": "en"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()
    except (urllib.error.URLError, ConnectionError):
        return None


def first_answer(url, seconds=60):
    ends = time.monotonic() + seconds
    while (answer := ask(url)) is None:
        assert time.monotonic() < ends
        time.sleep(0.02)
    return answer


def wait_ready(url):
    ends = time.monotonic() + 120
    while (ask(url + "readyz") or (0,))[0] != 200:
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_before_the_models_are_warm_and_after(tmp_path):
    with starting(tmp_path) as (process, url):
        status, _, body = first_answer(url + "readyz")
        assert status == 503 and json.loads(body)["sessions"]["joe"] in ("registered", "loading", "warming", "ready")
        assert ask(url + "healthz")[0] == 200
        page = ask(url)
        assert page[0] == 503 and page[1]["Retry-After"] and "warming" in page[2]
        early = ask(url + "api/stream", {"text": "Hello."})
        assert early[0] == 503 and early[1]["Retry-After"] and json.loads(early[2])["error"]["code"] == "not_ready"
        wait_ready(url)
        assert ask(url)[0] == 200 and "ReadyVoice" in ask(url)[2]
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 0
        lines = process.stdout.read()
        assert "[4/6] loading joe" in lines and "[5/6] joe is warm" in lines and f"[6/6] ready: {url.rstrip('/')}" in lines
        assert "Traceback" not in lines


def test_a_stream_that_fails_breaks_and_says_why_afterwards(tmp_path):
    with starting(tmp_path) as (process, url):
        wait_ready(url)
        chosen = "0123456789abcdef" * 2
        request = urllib.request.Request(url + "api/stream", json.dumps({"text": BOOK, "id": chosen}).encode())
        with urllib.request.urlopen(request, timeout=60) as answer, pytest.raises(Exception, match="IncompleteRead|reset"):
            while answer.read(65536):
                pass
        figures = json.loads(ask(url + f"api/requests/{chosen}")[2])
        assert figures["state"] == "failed" and figures["error"]["code"] == "deadline"
        assert "shorter text" in figures["error"]["message"] and figures["audio_seconds"] > 1


@pytest.mark.parametrize("reads", [True, False])
def test_sigterm_ends_streams_and_the_process_in_time(tmp_path, reads):
    """Both a stream that is read to its end and one whose client has stopped reading, so that a write hangs."""
    with starting(tmp_path, CONFIG.replace("deadline = 8", "deadline = 600")) as (process, url), socket.socket() as client:
        wait_ready(url)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2])))
        body = json.dumps({"text": BOOK}).encode()
        client.sendall(b"POST /api/stream HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
                       b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert b"200 OK" in client.recv(1000)
        time.sleep(2)  # time to fill every buffer on the way
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        while reads and client.recv(65536):
            pass
        assert process.wait(20) == 0 and time.monotonic() - began < 14  # 10 and the giving back of its memory
        assert "Traceback" not in process.stdout.read()


def test_sigterm_ends_the_process_in_time_while_a_voice_is_fitted(tmp_path):
    with starting(tmp_path, CONFIG.replace("deadline = 8", "deadline = 600")) as (process, url):
        wait_ready(url)
        with httpx.Client(base_url=url, timeout=120) as page:
            page.get("")
            speech = page.post("v1/audio/speech", json={"model": "joe", "input": SPEECH, "voice": "", "response_format": "flac"})
            clip = page.post("api/voices/clips", files={"file": ("a.flac", speech.content)}).json()["clip"]
            assert page.post(f"api/voices/clips/{clip}/fit").status_code == 202
            until(lambda: page.get(f"api/voices/clips/{clip}").json()["fit"].get("step", 0) >= 1, 300)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0 and time.monotonic() - began < 14
        assert "Traceback" not in process.stdout.read()


def test_a_taken_port_is_said_at_once(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with starting(tmp_path, port=port) as (process, _):
            assert process.wait(60) == 1
            assert f"port {port} on 127.0.0.1 is taken" in process.stdout.read()


@pytest.mark.parametrize(("config", "says"), [
    ("[[models]]\nid = 'a'\nfamily = 'kokor'\n", "did you mean kokoro?"),
    ("[server]\nprt = 1\n[[models]]\nid = 'a'\nfamily = 'vits'\n", "did you mean port?"),
])
def test_a_wrong_configuration_is_refused_before_anything_loads(tmp_path, config, says):
    with starting(tmp_path, config) as (process, _):
        assert process.wait(60) == 1
        out = process.stdout.read()
        assert says in out and "loading" not in out and "Traceback" not in out


def test_a_model_that_can_not_load_does_not_take_the_others_with_it(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    broken = f'[[models]]\nid = "broken"\nfamily = "vits"\npath = "{empty}"\n'
    with starting(tmp_path, '[server]\ndefault_model = "joe"\n' + CONFIG.split("\n", 2)[2] + broken) as (process, url):
        first_answer(url)
        ends = time.monotonic() + 120
        while ask(url + "api/models")[0] != 200:
            assert time.monotonic() < ends
            time.sleep(0.1)
        status, _, body = ask(url + "readyz")
        assert status == 503 and json.loads(body)["sessions"] == {"joe": "ready", "broken": "failed"}
        assert ask(url + "api/stream", {"text": "Hello."})[0] == 200
        gone = json.loads(ask(url + "api/stream", {"text": "Hello.", "model": "broken"})[2])["error"]
        assert gone["code"] == "session_failed" and "choose another model" in gone["message"]


def test_what_cloning_takes_is_fetched_after_the_first_start_and_loaded_before_the_first_clip(tmp_path, monkeypatch):
    fresh = tmp_path / "home"
    for part in ("packages", "vits"):
        shutil.copytree(home() / part, fresh / part, copy_function=os.link)
    monkeypatch.setenv("READYVOICE_HOME", str(fresh))
    with starting(tmp_path) as (process, url):
        wait_ready(url)
        until(lambda: transcribe.standing(fresh / "whisper" / f"base-{transcribe.VERSION}"), 120)
        held = psutil.Process(process.pid).memory_info().rss
        assert ask(url + "api/voices/tools", {})[0] == 204
        assert psutil.Process(process.pid).memory_info().rss > held + 200e6
        began = time.monotonic()
        assert ask(url + "api/voices/tools", {})[0] == 204 and time.monotonic() - began < 0.5  # nothing left to do
