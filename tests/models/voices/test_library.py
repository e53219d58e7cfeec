"""Saved voices: kept, found, changed, private, deleted and brought back."""
from __future__ import annotations

import os
import time

import numpy as np
import pytest
import torch

from models.audio.encode import on_grid
from models.voices.clip import Clip
from models.voices.library import KEPT, Library
from tests.models.voices.shelf import STATE, a_clip, refusal
from tests.recordings import tone


def test_what_was_saved_comes_back(library):
    clip = a_clip()
    saved = library.save(clip, "  Anna\tMaria ", "anna", "Anna herself", language="en_GB", notes="warm", tags=["calm", "calm", ""],
                         states={"kokoro": STATE, "voxcpm-1.5": STATE}, likeness=0.88)
    again = Library(library.folder)
    assert again.list("anna") == [saved] and again.get(saved.id, "anna") == saved
    assert (saved.name, saved.language, saved.tags, saved.transcript) == ("Anna Maria", "en-gb", ("calm",), "Hello there.")
    assert saved.consent.who == "Anna herself" and saved.consent.when.endswith("+00:00") and saved.likeness == 0.88
    read = again.clip(saved.id, "anna")
    assert np.array_equal(read.samples, clip.samples) and read.digest == clip.digest
    for model in ("kokoro", "voxcpm-1.5"):
        state = again.state(saved.id, "anna", model)
        assert state.keys() == STATE.keys() and all(torch.equal(state[name], STATE[name]) for name in STATE)
    assert again.state(saved.id, "anna", "pocket") is None
    assert (library.folder.stat().st_mode & 0o077) == 0


@pytest.mark.parametrize("rate", [16_000, 22_050, 44_100, 48_000])
def test_the_digest_survives_at_any_rate(library, rate):
    clip = Clip(on_grid(tone(0.3, rate)), rate, "")
    assert library.clip(library.save(clip, "a", "me", "me").id, "me").digest == clip.digest


@pytest.mark.parametrize("name", ["../../etc", "a/b", "..", ".", "CON", "a\0b", "小红", "🙂", "x" * 80, "-rf", "$(id)", ".hidden"])
def test_names_are_names_and_never_paths(library, name):
    saved = library.save(a_clip(), name, "me", "me")
    assert library.list("me") == [saved] and library.named(saved.name, "me") == saved
    assert {path.name for path in library.folder.iterdir()} <= {saved.id, ".lock"}


@pytest.mark.parametrize("voice_id", ["", "..", "../voices", ".lock", ".trash", "0" * 15, "0" * 17, "0" * 15 + "G", "a/b"])
def test_ids_that_are_none(library, voice_id):
    for call in (lambda: library.get(voice_id, None), lambda: library.delete(voice_id, None), lambda: library.clip(voice_id, None),
                 lambda: library.undo_delete(voice_id, None), lambda: library.export_file(voice_id, None)):
        assert refusal(call) == ("saved_voice_unknown", "voice")


@pytest.mark.parametrize(("given", "expected"), [
    (dict(consent=""), ("consent_missing", "consent")), (dict(consent=" \n "), ("consent_missing", "consent")),
    (dict(name=""), ("field_invalid", "name")), (dict(name="x" * 81), ("field_invalid", "name")),
    (dict(language="klingon!"), ("field_invalid", "language")), (dict(notes="x" * 2001), ("field_invalid", "notes")),
    (dict(tags=[str(number) for number in range(13)]), ("field_invalid", "tags")), (dict(shared="yes"), ("field_invalid", "shared")),
])
def test_what_can_not_be_saved(library, given, expected):
    about = dict(name="Anna", consent="Anna") | given
    name, consent = about.pop("name"), about.pop("consent")
    assert refusal(lambda: library.save(a_clip(), name, "me", consent, **about)) == expected
    assert library.list(None) == []
    if given.keys() & {"notes", "tags", "language", "shared"}:
        saved = library.save(a_clip(), "Anna", "me", "Anna")
        assert refusal(lambda: library.edit(saved.id, "me", **given)) == expected
        assert library.list(None) == [saved]


@pytest.mark.parametrize("name", ["id", "consent", "created", "seconds", "colour"])
def test_what_can_not_be_changed(library, name):
    saved = library.save(a_clip(), "Anna", "me", "Anna")
    assert refusal(lambda: library.edit(saved.id, "me", **{name: "x"})) == ("field_unknown", name)


def test_voices_are_private_until_shared(library):
    mine = library.save(a_clip(), "Mine", "anna", "Anna")
    assert library.list("ben") == [] and library.list("") == [] and library.list(None) == [mine]
    for call in (library.get, library.clip, library.export_file, library.delete):
        assert refusal(lambda: call(mine.id, "ben")) == ("saved_voice_unknown", "voice")
    assert refusal(lambda: library.state(mine.id, "ben", "kokoro"))[0] == "saved_voice_unknown"
    assert refusal(lambda: library.put_state(mine.id, "ben", "kokoro", STATE))[0] == "saved_voice_unknown"
    shared = library.edit(mine.id, "anna", shared=True)
    assert library.list("ben") == [shared] and library.clip(mine.id, "ben").digest == a_clip().digest
    for call in (lambda: library.edit(mine.id, "ben", name="Stolen"), lambda: library.delete(mine.id, "ben")):
        assert refusal(call) == ("saved_voice_foreign", "voice")
    library.put_state(mine.id, "ben", "pocket", STATE)
    assert library.state(mine.id, "anna", "pocket") is not None
    copy = library.duplicate(mine.id, "ben", "My copy")
    assert copy.owner == "ben" and not copy.shared and copy.consent == mine.consent
    assert library.edit(copy.id, "ben", name="Renamed").name == "Renamed"
    assert library.state(copy.id, "ben", "pocket") is not None
    library.delete(mine.id, "anna")
    assert library.list("ben") == [library.get(copy.id, "ben")]


def test_one_name_once_per_owner(library):
    first = library.save(a_clip(), "Anna", "anna", "Anna")
    assert refusal(lambda: library.save(a_clip(1), "anna", "anna", "Anna")) == ("voice_name_taken", "name")
    second = library.save(a_clip(1), "Anna", "ben", "Anna", shared=True)
    assert library.named("Anna", "anna") == first and library.named("Anna", "ben") == second
    assert library.named("Anna", "carl") == second and library.named(first.id, "anna") == first
    third = library.save(a_clip(2), "Other", "anna", "Anna")
    assert refusal(lambda: library.edit(third.id, "anna", name="ANNA")) == ("voice_name_taken", "name")
    assert library.edit(first.id, "anna", name="ANNA").name == "ANNA"
    assert refusal(lambda: library.named("Nobody", "anna"))[0] == "saved_voice_unknown"


def test_delete_and_undo(library):
    saved = library.save(a_clip(), "Anna", "anna", "Anna", states={"kokoro": STATE})
    library.delete(saved.id, "anna")
    assert library.list("anna") == [] and library.deleted("anna") == [saved] and library.deleted("ben") == []
    assert refusal(lambda: library.undo_delete(saved.id, "ben"))[0] == "saved_voice_unknown"
    assert library.undo_delete(saved.id, "anna") == saved
    assert library.list("anna") == [saved] and library.deleted("anna") == []
    assert library.state(saved.id, "anna", "kokoro") is not None
    library.delete(saved.id, "anna")
    library.save(a_clip(), "Anna", "anna", "Anna")
    assert refusal(lambda: library.undo_delete(saved.id, "anna"))[0] == "voice_name_taken"


def test_the_trash_is_emptied_after_a_week(library):
    old, new = (library.save(a_clip(), name, "anna", "Anna") for name in ("old", "new"))
    library.delete(old.id, "anna")
    library.delete(new.id, "anna")
    week_ago = time.time() - 8 * 24 * 3600
    os.utime(library.folder / ".trash" / old.id / "meta.json", (week_ago, week_ago))
    assert Library(library.folder).deleted("anna") == [new]


def test_search_and_tags(library):
    anna = library.save(a_clip(), "Anna", "me", "Anna", notes="warm and low", tags=["story"], language="en")
    bao = library.save(a_clip(1, transcript="你好，世界。"), "阿宝", "me", "Bao", tags=["story", "news"], language="zh")
    find = lambda *words, **more: [voice.id for voice in library.list("me", *words, **more)]
    assert find() == [anna.id, bao.id]
    assert find("WARM") == [anna.id] and find("世界") == [bao.id] and find("story low") == [anna.id] and find("nothing") == []
    assert find(tag="news") == [bao.id] and find(tag="new") == [] and library.tags("me") == ["news", "story"]
    assert library.tags("you") == []


def test_a_changed_transcript_leaves_no_stale_state(library):
    saved = library.save(a_clip(), "Anna", "me", "Anna", states={"kokoro": STATE, "voxcpm": STATE})
    library.edit(saved.id, "me", transcript="Something else.")
    assert library.state(saved.id, "me", "voxcpm") is None
    assert library.state(saved.id, "me", "kokoro") is not None  # made from the sound alone
    assert library.clip(saved.id, "me").transcript == "Something else."


def test_a_damaged_state_counts_as_none(library):
    saved = library.save(a_clip(), "Anna", "me", "Anna", states={"voxcpm": STATE})
    path = library.folder / saved.id / "states" / "voxcpm.safetensors"
    path.write_bytes(path.read_bytes()[:50])
    assert library.state(saved.id, "me", "voxcpm") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"id": "x"}', "{}"])
def test_a_damaged_record_hides_its_voice_alone(library, text):
    good = library.save(a_clip(), "Good", "me", "me")
    bad = library.save(a_clip(), "Bad", "me", "me")
    (library.folder / bad.id / "meta.json").write_text(text)
    assert library.list("me") == [good]


def test_a_running_library_empties_its_trash_too(library):
    old, other = (library.save(a_clip(seed), name, "anna", "Anna") for seed, name in ((0, "Old"), (1, "Other")))
    library.delete(old.id, "anna")
    long_ago = time.time() - KEPT - 60
    os.utime(library.folder / ".trash" / old.id / "meta.json", (long_ago, long_ago))
    assert refusal(lambda: library.undo_delete(old.id, "anna")) == ("saved_voice_unknown", "voice")
    library.delete(other.id, "anna")
    assert [voice.id for voice in library.deleted("anna")] == [other.id]
