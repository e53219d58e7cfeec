"""What stands in the way is said in one sentence, before anything is installed."""
from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections import namedtuple

import pytest

from cli import preflight
from tests.served import ROOT


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    return tmp_path


def start(*arguments, env=None, **options):
    return subprocess.run(["bash", str(ROOT / "start.sh"), *arguments], capture_output=True, text=True, timeout=120,
                          env=env or os.environ, **options)


def test_nothing_in_the_way():
    assert preflight.trouble("setup", True, ROOT, []) is None


def test_no_venv_module(monkeypatch):
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert "apt install python" in preflight.trouble("setup", False, ROOT, [])
    assert preflight.trouble("setup", True, ROOT, []) is None  # an environment that stands needs none


@pytest.mark.parametrize(("installed", "free", "fine"), [(False, 3e9, False), (True, 3e9, True), (True, 1e8, False)])
def test_disk_full(monkeypatch, installed, free, fine):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("Usage", "free")(free))
    said = preflight.trouble("setup", installed, ROOT, [])
    assert (said is None) if fine else ("free some space" in said)


@pytest.mark.parametrize("flags", [["--port={}"], ["--port", "{}"], ["--config", "{config}"]])
def test_port_taken(home, flags):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (home / "other.toml").write_text(f"[server]\nport = {port}\n")
        given = [flag.format(port, config=home / "other.toml") for flag in flags]
        assert f"port {port} on 127.0.0.1 is taken" in preflight.trouble("serve", True, ROOT, given)
        done = start(*given)
        assert done.returncode == 1 and "choose another with --port" in done.stderr
        assert preflight.trouble("say", True, ROOT, given) is None  # nothing listens there


def test_no_python(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "mkdir", "cat"):
        (tools / name).symlink_to(shutil.which(name))
    done = start(env={"PATH": str(tools), "HOME": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr.startswith("[1/6] Python 3.11 or newer is needed") and "install it" in done.stderr


def test_an_old_python_is_passed_over(tmp_path):
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = start("help", env={**os.environ, "PYTHON": str(old)})
    assert done.returncode == 0 and "bash start.sh say" in done.stdout


def test_a_home_that_can_not_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    done = start(env={**os.environ, "READYVOICE_HOME": str(tmp_path / "file" / "home")})
    assert done.returncode == 1 and "READYVOICE_HOME=/path" in done.stderr


def test_an_unknown_command_shows_the_known_ones():
    done = start("sing")
    assert done.returncode == 2 and "no command sing" in done.stderr and "bash start.sh say" in done.stderr
