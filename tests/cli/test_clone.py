"""`clone` saves a voice from a recording, and `say` speaks in it."""
from __future__ import annotations

import os
import subprocess
import sys

import av
import pytest
import soundfile

from models.voices.library import Library
from models.voices.speaker import likeness, speaker_encoder
from models.weights import home
from tests.listening import transcribe, word_error_rate
from tests.models.voices.conftest import joe, speech  # noqa: F401
from tests.recordings import coded_file, pcm_file, tone
from tests.served import ROOT

TEXT = "The weather will be fine tomorrow."


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A home folder of its own for voices, with the weights that are on this machine already."""
    folder = tmp_path_factory.mktemp("home")
    for path in home().iterdir():
        if path.name != "voices":
            (folder / path.name).symlink_to(path)
    return folder


def run(place, folder, *arguments):
    return subprocess.run([sys.executable, str(ROOT / "app.py"), *map(str, arguments)], capture_output=True, text=True,
                          timeout=1800, cwd=folder, env={**os.environ, "READYVOICE_HOME": str(place)})


@pytest.fixture(scope="module")
def cloned(place, speech, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("clip")
    (folder / "joe.m4a").write_bytes(coded_file(*speech, "ipod", "aac"))
    return run(place, folder, "clone", "Joe Smith", "joe.m4a", "--consent", "Joe Smith himself",
               "--seconds", "20")


def test_clone_reports_and_saves(cloned, place):
    assert cloned.returncode == 0, cloned.stderr
    for words in ("s of speech", "One person speaks", "likeness 0.", "the clip's own halves", "semitones", "saved as \"Joe Smith\""):
        assert words in cloned.stdout
    assert "fitting: step" in cloned.stderr and "Traceback" not in cloned.stderr
    library = Library(place / "voices")
    voice = library.named("Joe Smith", None)
    assert voice.consent.who == "Joe Smith himself" and voice.language == "en" and "harbour" in voice.transcript.replace("harbor", "harbour")
    assert voice.likeness > 0.7 and library.state(voice.id, None, "kokoro") is not None


def test_say_speaks_in_it_and_the_file_says_so(cloned, place, speech, tmp_path):  # noqa: F811
    done = run(place, tmp_path, "say", TEXT, "--model", "kokoro", "--voice", "Joe Smith", "--out", "line.wav")
    assert done.returncode == 0, done.stderr
    samples, rate = soundfile.read(tmp_path / "line.wav", dtype="float32")
    assert word_error_rate(TEXT, transcribe(samples, rate, "en")) == 0
    with av.open(str(tmp_path / "line.wav")) as file:
        assert "Synthetic speech" in file.metadata["comment"] and "Joe Smith" in file.metadata["comment"]
    plain = run(place, tmp_path, "say", TEXT, "--model", "kokoro", "--out", "plain.wav")
    assert plain.returncode == 0
    with av.open(str(tmp_path / "plain.wav")) as file:
        assert "comment" not in file.metadata
    encoder = speaker_encoder()
    wanted = encoder.embed(*speech)
    stock = soundfile.read(tmp_path / "plain.wav", dtype="float32")
    assert likeness(encoder.embed(samples, rate), wanted) > likeness(encoder.embed(*stock), wanted) + 0.15


def test_a_name_is_taken_once(cloned, place, speech, tmp_path):  # noqa: F811
    (tmp_path / "joe.wav").write_bytes(pcm_file(*speech))
    done = run(place, tmp_path, "clone", "joe smith", "joe.wav", "--consent", "Joe")
    assert done.returncode == 1 and "already have a voice called joe smith" in done.stderr


@pytest.mark.parametrize(("data", "arguments", "says"), [
    (pcm_file(tone(3, 16_000), 16_000), [], "who agreed to this voice"),
    (pcm_file(tone(3, 16_000), 16_000), ["--consent", "me"], "No speech was found"),
    (pcm_file(tone(3, 16_000) * 0, 16_000), ["--consent", "me"], "silent"),
    (b"", ["--consent", "me"], "empty"),
    (b"hello", ["--consent", "me"], "not an audio file"),
    (None, ["--consent", "me"], "can't be used"),
], ids=["no consent", "a tone", "silence", "empty", "text", "missing"])
def test_what_is_wrong_in_one_sentence(place, tmp_path, data, arguments, says):
    if data is not None:
        (tmp_path / "clip.wav").write_bytes(data)
    done = run(place, tmp_path, "clone", "Anna", "clip.wav", *arguments)
    assert done.returncode == 1 and says in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert all(voice.name != "Anna" for voice in Library(place / "voices").list(None))
