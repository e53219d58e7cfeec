"""`say` speaks a text into a file, and says in one sentence when it can't."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest
import soundfile

from tests.listening import transcribe, word_error_rate
from tests.served import ROOT

TEXT = "The weather will be fine tomorrow."


def say(folder, *arguments, **env):
    return subprocess.run([sys.executable, str(ROOT / "app.py"), "say", *arguments], capture_output=True, text=True,
                          timeout=300, cwd=folder, env={**os.environ, **env})


@pytest.mark.parametrize("model", ["joe", "kokoro"])
def test_the_file_says_the_text(tmp_path, model):
    done = say(tmp_path, TEXT, "--model", model, "--out", "line.wav", "--seed", "1")
    assert done.returncode == 0, done.stderr
    samples, rate = soundfile.read(tmp_path / "line.wav", dtype="float32")
    assert word_error_rate(TEXT, transcribe(samples, rate, "en")) == 0
    assert "x real time" in done.stderr and done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["line.wav"]


def test_only_the_asked_model_is_loaded(tmp_path):
    log = tmp_path / "log.txt"
    assert say(tmp_path, TEXT, "--model", "joe", "--log-file", str(log)).returncode == 0
    lines = log.read_text()
    assert "session joe: ready" in lines and "kokoro" not in lines
    assert soundfile.info(tmp_path / "speech.wav").duration > 1  # the default name


def test_speed_shortens(tmp_path):
    for speed in ("0.8", "1.6"):
        assert say(tmp_path, TEXT, "--model", "joe", "--speed", speed, "--seed", "1", "--out", f"{speed}.wav").returncode == 0
    slow, fast = (soundfile.info(tmp_path / f"{speed}.wav").duration for speed in ("0.8", "1.6"))
    assert slow / fast > 1.6


@pytest.mark.parametrize(("arguments", "says"), [
    ([TEXT, "--model", "jo"], "There is no model called jo"),
    ([TEXT, "--model", "joe", "--voice", "nobody"], "no voice called nobody"),
    (["", "--model", "joe"], "Please type some text first."),
    (["🙂", "--model", "joe"], "nothing to read aloud"),
    ([TEXT, "--model", "joe", "--speed", "7"], "--speed must be from 0.5 to 2"),
    ([TEXT, "--model", "joe", "--out", "nowhere/line.wav"], "does not exist: make it first"),
    ([TEXT, "--config", "nowhere.toml"], "can't be read"),
])
def test_what_is_wrong_in_one_sentence(tmp_path, arguments, says):
    done = say(tmp_path, *arguments)
    assert done.returncode == 1 and says in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.glob("**/*.wav"))
