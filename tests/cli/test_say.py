"""`say` speaks a text into a file, and says in one sentence when it can't."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest
import soundfile

from models.families import family
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


def test_a_control_changes_the_sound(tmp_path):
    for name, options in (("plain", ()), ("again", ()), ("flat", ("--option", "noise_scale=0", "--option", "noise_w=0"))):
        assert say(tmp_path, TEXT, "--model", "joe", "--seed", "1", *options, "--out", f"{name}.wav").returncode == 0
    plain, again, flat = ((tmp_path / f"{name}.wav").read_bytes() for name in ("plain", "again", "flat"))
    assert plain == again != flat


def test_the_controls_are_listed_from_their_declarations(tmp_path):
    listed, helped = say(tmp_path, "--options", "--model", "joe"), say(tmp_path, "--help")
    assert listed.returncode == helped.returncode == 0
    for name, option in family("vits").controls.items():
        line = f"  {name} = a number from 0 to 2: {option.help['en']}"
        assert line in listed.stdout and line in helped.stdout
    assert "voxcpm" not in listed.stdout and "cfg_value = a number from 0.1 to 10, 2.0 by default" in helped.stdout
    assert "kokoro: no controls" in say(tmp_path, "--options").stdout


@pytest.mark.parametrize(("arguments", "says"), [
    ([TEXT, "--model", "jo"], "There is no model called jo"),
    ([TEXT, "--model", "joe", "--voice", "nobody"], "no voice called nobody"),
    (["", "--model", "joe"], "Please type some text first."),
    (["🙂", "--model", "joe"], "nothing to read aloud"),
    ([TEXT, "--model", "joe", "--speed", "7"], "--speed must be from 0.5 to 2"),
    ([TEXT, "--model", "joe", "--out", "nowhere/line.wav"], "does not exist: make it first"),
    ([TEXT, "--config", "nowhere.toml"], "can't be read"),
    ([TEXT, "--model", "joe", "--option", "noise_scale=5"], "noise_scale must be a number from 0 to 2"),
    ([TEXT, "--model", "joe", "--option", "noise_scale=much"], "noise_scale must be a number from 0 to 2"),
    ([TEXT, "--model", "joe", "--option", "noise=1"], "its controls are noise_scale, noise_w"),
    ([TEXT, "--model", "joe", "--option", "noise_scale"], "--option must be written as NAME=VALUE"),
])
def test_what_is_wrong_in_one_sentence(tmp_path, arguments, says):
    done = say(tmp_path, *arguments)
    assert done.returncode == 1 and says in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.glob("**/*.wav"))
