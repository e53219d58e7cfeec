from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pytest
import torch

from models.audio.encode import on_grid, to_flac
from models.errors import SpeechError
from models.voices.clip import Clip
from models.voices.library import KEPT, Library
from tests.recordings import tone
from tests.served import ROOT


def a_clip(seed: int = 0, seconds: float = 0.5, transcript: str = "Hello there.") -> Clip:
    noise = np.random.default_rng(seed).normal(size=round(seconds * 24_000)) * 0.1
    return Clip(on_grid(noise.astype(np.float32)), 24_000, transcript)


STATE = {"style": torch.arange(12.0).reshape(3, 4), "length": torch.tensor(7)}


@pytest.fixture
def library(tmp_path) -> Library:
    return Library(tmp_path / "voices")


def refusal(call) -> tuple[str, str | None]:
    with pytest.raises(SpeechError) as caught:
        call()
    return caught.value.code, caught.value.field


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


# -- one file


def test_export_and_import(library, tmp_path):
    saved = library.save(a_clip(), "Anna", "anna", "Anna", language="en", tags=["x"], states={"kokoro": STATE}, shared=True,
                         pinned=True)
    data = library.export_file(saved.id, "anna")
    other = Library(tmp_path / "elsewhere")
    there = other.import_file(data, "ben")
    assert there.id != saved.id and (there.owner, there.shared, there.pinned) == ("ben", False, False)
    assert (there.name, there.consent, there.tags, there.language) == (saved.name, saved.consent, saved.tags, saved.language)
    assert other.clip(there.id, "ben").digest == a_clip().digest
    assert torch.equal(other.state(there.id, "ben", "kokoro")["style"], STATE["style"])
    assert refusal(lambda: other.import_file(data, "ben")) == ("voice_name_taken", "name")
    assert "anna" not in zipfile.ZipFile(io.BytesIO(data)).read("meta.json").decode()  # whose login it was stays here


def test_what_was_written_down_about_a_shared_voice_stays_its_owners(library, tmp_path):
    saved = library.save(a_clip(), "Anna", "anna", "Anna", notes="my neighbour", shared=True)
    assert library.list("ben", search="neighbour") == [] and library.list("anna", search="neighbour") == [saved]
    assert library.duplicate(saved.id, "ben", "Hers").notes == ""
    for who, notes in (("ben", ""), ("anna", "my neighbour")):
        there = Library(tmp_path / who).import_file(library.export_file(saved.id, who), who)
        assert there.notes == notes


def test_a_running_library_empties_its_trash_too(library):
    old, other = (library.save(a_clip(seed), name, "anna", "Anna") for seed, name in ((0, "Old"), (1, "Other")))
    library.delete(old.id, "anna")
    long_ago = time.time() - KEPT - 60
    os.utime(library.folder / ".trash" / old.id / "meta.json", (long_ago, long_ago))
    assert refusal(lambda: library.undo_delete(old.id, "anna")) == ("saved_voice_unknown", "voice")
    library.delete(other.id, "anna")
    assert [voice.id for voice in library.deleted("anna")] == [other.id]


def test_an_archive_with_a_broken_lzma_entry_is_refused(library):
    saved = library.save(a_clip(), "Anna", "anna", "Anna")
    with zipfile.ZipFile(io.BytesIO(library.export_file(saved.id, "anna"))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    data = bytearray(buffer.getvalue())
    at = data.index(b"clip.flac") + len(b"clip.flac") + 4
    data[at:at + 40] = b"\xff" * 40
    assert refusal(lambda: library.import_file(bytes(data), "ben")) == ("voice_file_invalid", "file")


def edited(data: bytes, change) -> bytes:
    """The same zip after `change` was let at its {name: content}."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_meta(parts, **values) -> None:
    parts["meta.json"] = json.dumps(json.loads(parts["meta.json"]) | values)


HOSTILE = {
    "parent": lambda parts: parts.update({"../evil.txt": b"x"}),
    "absolute": lambda parts: parts.update({"/tmp/evil.txt": b"x"}),
    "windows": lambda parts: parts.update({"..\\evil.txt": b"x"}),
    "state outside": lambda parts: parts.update({"states/../../evil.safetensors": b"x"}),
    "state below": lambda parts: parts.update({"states/a/b.safetensors": b"x"}),
    "folder": lambda parts: parts.update({"states/": b""}),
    "hidden": lambda parts: parts.update({"states/.lock.safetensors": b"x"}),
    "other": lambda parts: parts.update({"readme.txt": b"x"}),
    "pickle": lambda parts: parts.update({"states/kokoro.pt": b"x"}),
    "many": lambda parts: parts.update({f"states/m{number}.safetensors": b"x" for number in range(30)}),
    "no clip": lambda parts: parts.pop("clip.flac"),
    "no record": lambda parts: parts.pop("meta.json"),
    "clip no flac": lambda parts: parts.update({"clip.flac": b"RIFF" + bytes(100)}),
    "clip broken": lambda parts: parts.update({"clip.flac": b"fLaC" + bytes(100)}),
    "state broken": lambda parts: parts.update({"states/kokoro.safetensors": b"\xff" * 100}),
    "record too large": lambda parts: parts.update({"meta.json": b" " * 200_000}),
    "record no json": lambda parts: parts.update({"meta.json": b"hello"}),
    "record deep": lambda parts: parts.update({"meta.json": b"[" * 90_000}),
    "record binary": lambda parts: parts.update({"meta.json": b"\xff\xfe\0"}),
    "no consent": lambda parts: with_meta(parts, consent={"who": "", "when": ""}),
    "consent none": lambda parts: with_meta(parts, consent=None),
    "name a list": lambda parts: with_meta(parts, name=["x"]),
    "tags a number": lambda parts: with_meta(parts, tags=5),
    "long name": lambda parts: with_meta(parts, name="x" * 100),
    "shared a text": lambda parts: with_meta(parts, shared="x"),
    "created a number": lambda parts: with_meta(parts, created=5),
    "consent of no date": lambda parts: with_meta(parts, consent={"who": "Anna", "when": "x" * 3000}),
    "minutes long": lambda parts: parts.update({"clip.flac": to_flac(np.zeros(62 * 8000, np.float32), 8000)}),
    "infinite": lambda parts: with_meta(parts, likeness=float("inf")),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_are_refused(library, tmp_path, kind):
    saved = library.save(a_clip(), "Anna", "anna", "Anna", states={"kokoro": STATE})
    data = edited(library.export_file(saved.id, "anna"), HOSTILE[kind])
    before = {path for path in tmp_path.rglob("*") if path.name != ".lock"}
    assert refusal(lambda: library.import_file(data, "ben")) == ("voice_file_invalid", "file")
    assert {path for path in tmp_path.rglob("*") if path.name != ".lock"} == before and library.list("ben") == []


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_comes_twice_is_refused(library):
    saved = library.save(a_clip(), "Anna", "anna", "Anna")
    buffer = io.BytesIO(library.export_file(saved.id, "anna"))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("meta.json", "{}")
    assert refusal(lambda: library.import_file(buffer.getvalue(), "ben"))[0] == "voice_file_invalid"


@pytest.mark.parametrize("data", [b"", b"PK", b"hello", b"PK\x03\x04" + bytes(200), b"PK\x05\x06" + bytes(18)], ids=repr)
def test_what_is_no_zip(library, data):
    assert refusal(lambda: library.import_file(data, "ben"))[0] == "voice_file_invalid"


def test_a_zip_bomb_is_not_unpacked(library):
    saved = library.save(a_clip(), "Anna", "anna", "Anna")
    data = edited(library.export_file(saved.id, "anna"), lambda parts: parts.update({"states/kokoro.safetensors": bytes(140_000_000)}))
    assert len(data) < 1_000_000
    assert refusal(lambda: library.import_file(data, "ben"))[0] == "voice_file_invalid"
    lying = bytearray(edited(library.export_file(saved.id, "anna"),
                             lambda parts: parts.update({"states/kokoro.safetensors": bytes(5_000_000)})))
    at = lying.rindex(b"states/kokoro.safetensors") - 46 + 24  # the size announced in the zip's directory
    lying[at:at + 4] = (100).to_bytes(4, "little")
    assert refusal(lambda: library.import_file(bytes(lying), "ben"))[0] == "voice_file_invalid"


def test_damaged_zips_are_refused_or_whole(library):
    saved = library.save(a_clip(), "Anna", "anna", "Anna", states={"kokoro": STATE})
    data, dice = library.export_file(saved.id, "anna"), random.Random(0)
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(3):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            there = library.import_file(bytes(broken), "ben")
        except SpeechError as error:
            assert error.code == "voice_file_invalid"
        else:
            assert library.clip(there.id, "ben").seconds > 0
            library.delete(there.id, "ben")


# -- several at once, and sudden ends

WRITER = """
import itertools, os, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from models.voices.library import KEPT, Library
from tests.models.voices.test_library import STATE, a_clip
import models.voices.states, filelock, av  # once, for all that are forked from here
for line in sys.stdin:
    seed = line.strip()
    child = os.fork()
    if child:
        print(child, flush=True)
        os.waitpid(child, 0)
        continue
    library, clip = Library(Path({folder!r})), a_clip(int(seed), 2.0)
    for number in itertools.count():
        voice = library.save(clip, f"{{seed}}-{{number}}", "writer", "me", states={{"kokoro": STATE, "voxcpm": STATE}})
        library.edit(voice.id, "writer", notes="x" * 1500, name=f"{{seed}}-{{number}}-renamed")
        library.put_state(voice.id, "writer", "pocket", STATE)
        copy = library.duplicate(voice.id, "writer", f"{{seed}}-{{number}}-copy")
        library.delete(voice.id, "writer")
        library.undo_delete(voice.id, "writer")
        library.delete(copy.id, "writer")
"""


class Writers:
    """A process that becomes a writer whenever it is told to; its writers are ended by SIGKILL."""

    def __init__(self, library: Library):
        code = WRITER.format(root=str(ROOT), folder=str(library.folder))
        self._process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
                                         text=True)

    def begin(self, seed: int) -> int:
        print(seed, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(20)


@pytest.fixture
def writers(library):
    made = [Writers(library), Writers(library)]
    yield made
    for each in made:
        each.close()


def all_whole(library: Library) -> int:
    """Every voice in the list can be used in full; returns how many there are."""
    voices = library.list(None)
    for voice in voices:
        assert library.clip(voice.id, None).seconds == pytest.approx(2.0)
        for model in ("kokoro", "voxcpm"):
            state = library.state(voice.id, None, model)
            assert state is not None and all(torch.equal(state[name], STATE[name]) for name in STATE)
        assert voice.name and voice.notes in ("", "x" * 1500)
    return len(voices)


def test_a_writer_killed_at_any_moment_leaves_only_whole_voices(library, writers):
    """kill -9 in a loop. The next writer takes up the same folder, its lock and its leftovers."""
    dice, seen, seed, ends = random.Random(1), 0, 0, time.monotonic() + 180
    while seed < 25 or seen <= 5:  # a busy machine writes fewer in the same time
        assert time.monotonic() < ends, f"only {seen} voices were written"
        child = writers[0].begin(seed)
        time.sleep(dice.uniform(0.0, 0.3 + seed * 0.01))
        os.kill(child, signal.SIGKILL)
        seen, seed = max(seen, all_whole(library)), seed + 1
    for path in library.folder.rglob(".*new*"):
        os.utime(path, (0, 0))
    assert not list(Library(library.folder).folder.rglob(".*new*")) and all_whole(library) >= seen


def test_two_processes_share_the_folder(library, writers):
    """What one does the other sees at once, and never a half of it."""
    children = [each.begin(seed) for each, seed in zip(writers, (100, 200))]
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len({voice.name.split("-")[0] for voice in library.list(None)}) < 2:
            for voice in library.list(None):
                try:
                    assert library.clip(voice.id, None).seconds == pytest.approx(2.0)
                except SpeechError as error:  # gone since it was listed
                    assert error.code == "saved_voice_unknown"
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
    names = [voice.name for voice in library.list(None)]
    assert len(set(names)) == len(names) and {name.split("-")[0] for name in names} == {"100", "200"}
    all_whole(library)


def test_many_threads_want_one_name(library):
    outcomes = []

    def save(number: int) -> None:
        try:
            outcomes.append(library.save(a_clip(number), "Anna", "me", "me").id)
        except SpeechError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes).count("voice_name_taken") == 7 and len(library.list("me")) == 1
