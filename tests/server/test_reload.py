"""A running server reads its configuration again: by SIGHUP, and by the command that sends it."""
from __future__ import annotations

import contextlib
import http.client
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from models.weights import home
from tests.models.fleets import BOOK, LINE, entry, second_voice
from tests.served import ROOT, Served, free_port, serve


@pytest.fixture
def config(tmp_path) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(entry("one"), "utf-8")
    return file


def reloaded(served: Served, work) -> list[str]:
    """Do `work`, wait until the server has read its configuration; what it could not carry out."""
    before = served.get("api/pool")["reloads"]["count"]
    work()
    ends = time.monotonic() + 120
    while (reloads := served.get("api/pool")["reloads"])["count"] == before:
        assert time.monotonic() < ends
        time.sleep(0.1)
    return reloads["problems"]


def hang_up(served: Served) -> list[str]:
    return reloaded(served, lambda: os.kill(served.pid, signal.SIGHUP))


def voices(served: Served) -> dict[str, list[str]]:
    return {model["id"]: [voice["id"] for voice in model["voices"]] for model in served.get("api/models")["models"]}


def command(*arguments: str) -> subprocess.CompletedProcess:
    program = [sys.executable, str(ROOT / "app.py"), "reload"]
    return subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=120)


def test_a_changed_configuration_is_applied_while_a_stream_goes_on(config, tmp_path):
    body = {"text": BOOK, "seed": 1, "model": "one"}
    with serve(config) as served:
        undisturbed = served.post("api/stream", body).read()
        stream = served.post("api/stream", body)
        heard = stream.read(4096)
        config.write_text(entry("one", second_voice(tmp_path / "jane")) + entry("two"), "utf-8")
        assert hang_up(served) == []
        assert voices(served) == {"one": ["en_US-jane-medium"], "two": ["en_US-joe-medium"]}
        assert heard + stream.read() == undisturbed
        answer = served.post("api/stream", {"text": LINE, "model": "one"})
        assert len(answer.read()) > 20_000
        assert served.get(f"api/requests/{answer.headers['X-Request-Id']}")["voice"] == "en_US-jane-medium"
        config.write_text(entry("two"), "utf-8")
        assert hang_up(served) == [] and list(voices(served)) == ["two"]
        assert served.get("readyz") == {"ready": True, "sessions": {"two": "ready"}}
        assert "Traceback" not in served.log.read_text()


def test_a_faulty_configuration_changes_nothing(config):
    with serve(config) as served:
        before = voices(served)
        config.write_text(entry("one", qeue_limit=3) + entry("two"), "utf-8")
        (problem,) = hang_up(served)
        assert "did you mean queue_limit?" in problem and problem in served.log.read_text()
        assert voices(served) == before and served.get("readyz")["ready"]
        config.write_text('[server]\nhost = "0.0.0.0"\n' + entry("one"), "utf-8")
        assert hang_up(served) == []  # --host was given, which goes before the file
        assert voices(served) == before


def test_the_command_finds_the_server_by_its_port(config):
    with serve(config) as served:
        port = served.url.rstrip("/").rpartition(":")[2]
        noted = json.loads((home() / "running" / f"{port}.json").read_text())
        assert noted["pid"] == served.pid and noted["config"] == str(config)
        config.write_text(entry("one") + entry("two"), "utf-8")
        done = command("--port", port)
        assert done.returncode == 0 and "done" in done.stdout and list(voices(served)) == ["one", "two"]
        config.write_text("[server]\nprot = 1\n" + entry("one"), "utf-8")
        refused = command("--port", port)
        assert refused.returncode == 1 and "did you mean port?" in refused.stderr
        assert served.get("api/pool")["reloads"]["count"] == 1  # it was not even asked
    assert not (home() / "running" / f"{port}.json").exists()
    gone = command("--port", port)
    assert gone.returncode == 1 and f"No server runs here on port {port}" in gone.stderr


def test_a_server_that_was_killed_is_not_taken_for_running(config):
    port = free_port()
    left = home() / "running" / f"{port}.json"
    left.parent.mkdir(parents=True, exist_ok=True)
    noted = {"pid": os.getpid(), "started": 1.0, "host": "127.0.0.1", "port": port, "config": str(config)}
    left.write_text(json.dumps(noted))
    try:
        asked = []
        before = signal.signal(signal.SIGHUP, lambda *_: asked.append(1))
        assert command("--port", str(port)).returncode == 1 and not asked
    finally:
        signal.signal(signal.SIGHUP, before)
        left.unlink()


def test_closing_the_terminal_ends_the_server(config):
    """What SIGHUP means to a program that somebody started by hand."""
    port = free_port()
    pid, terminal = pty.fork()
    if pid == 0:  # the terminal's own session
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests themselves run under nohup
        program = [sys.executable, str(ROOT / "app.py"), "serve", "--config", str(config), "--port", str(port)]
        os.execv(sys.executable, program)
    ended = False
    try:
        ends = time.monotonic() + 120
        while not answers(port):
            assert time.monotonic() < ends
            os.set_blocking(terminal, False)
            with contextlib.suppress(BlockingIOError):
                os.read(terminal, 65536)
            time.sleep(0.2)
        os.close(terminal)
        ends = time.monotonic() + 30
        while not ended and time.monotonic() < ends:
            done, status = os.waitpid(pid, os.WNOHANG)
            ended = done == pid
            time.sleep(0.1)
        assert ended and os.waitstatus_to_exitcode(status) == 0
        assert not (home() / "running" / f"{port}.json").exists()
    finally:
        if not ended:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
