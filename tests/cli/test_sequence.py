"""`say --request-sequence` speaks a list through one session, and says which request can't be spoken and why."""
from __future__ import annotations

import json

import pytest
import soundfile

from tests.cli.test_say import say
from tests.listening import transcribe, word_error_rate

LINES = [
    {"id": "one", "text": "The weather will be fine tomorrow.", "seed": 1},
    {"text": "She put the letters back into the drawer.", "seed": 1, "speed": 1.2, "options": {"noise_scale": 0.5}},
    {"id": "again", "text": "The weather will be fine tomorrow.", "seed": 1, "out": "sub/again.wav"},
]


def sequence(folder, lines, *more):
    (folder / "list.json").write_text(json.dumps(lines) if not isinstance(lines, str) else lines)
    return say(folder, "--request-sequence", "list.json", "--model", "joe", *more)


def test_every_request_has_its_file_and_its_figures(tmp_path):
    (tmp_path / "sub").mkdir()
    done = sequence(tmp_path, LINES, "--metrics", "figures.json")
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [one["out"] for one in figures["requests"]] == ["one.wav", "2.wav", "sub/again.wav"]
    assert [one["id"] for one in figures["requests"]] == ["one", "2", "again"]
    for line, one in zip(LINES, figures["requests"], strict=True):
        samples, rate = soundfile.read(tmp_path / one["out"], dtype="float32")
        assert word_error_rate(line["text"], transcribe(samples, rate, "en")) == 0
        assert one["audio_seconds"] == pytest.approx(len(samples) / rate)
        assert 0 < one["ttfa"] <= one["total"] and one["rtf"] > 0 and one["error"] is None
    assert [one["caches"]["phoneme_cache"] for one in figures["requests"]] == ["miss", "miss", "hit"]
    assert figures["session"]["served"] == 3 and figures["session"]["load_seconds"] > 0
    assert (tmp_path / "one.wav").read_bytes() == (tmp_path / "sub/again.wav").read_bytes()


def test_one_that_fails_is_told_and_the_rest_spoken(tmp_path):
    lines = [{"id": "lost", "text": "Hello.", "voice": "nobody"}, {"id": "found", "text": "Hello."}]
    done = sequence(tmp_path, {"requests": lines}, "--metrics", "figures.json")
    assert done.returncode == 1
    assert "lost: joe has no voice called nobody" in done.stderr and "Traceback" not in done.stderr
    first, second = json.loads((tmp_path / "figures.json").read_text())["requests"]
    assert (first["error"]["code"], first["out"], second["error"]) == ("voice_unknown", None, None)
    assert (tmp_path / "found.wav").is_file() and not (tmp_path / "lost.wav").exists()


@pytest.mark.parametrize(("lines", "told"), [
    ("not json", "must be a JSON list"),
    ([], "no list of requests"),
    ([{"text": "Hi."}, "Hi."], "Request 2"),
    ([{"text": " "}], "Request 1 of the list can't be spoken: Please type some text first."),
    ([{"text": "Hi.", "voise": "x"}], "no field voise (did you mean voice?)"),
    ([{"text": "Hi.", "speed": 3}], "speed must be a number from 0.5 to 2"),
    ([{"text": "Hi.", "options": {"warmth": 1}}], "no control warmth"),
    ([{"text": "Hi.", "id": "../up"}], "id must be"),
    ([{"text": "Hi.", "out": "nowhere/hi.wav"}], "nowhere"),
    ([{"text": "Hi.", "out": "hi.mp3"}], "NAME.wav"),
    ([{"text": "Hi.", "id": "a"}, {"text": "Hi.", "out": "a.wav"}], "another file than a.wav"),
])
def test_what_is_wrong_is_said_before_anything_is_spoken(tmp_path, lines, told):
    done = sequence(tmp_path, lines, "--metrics", "figures.json")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert told in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["list.json"]
