"""A saved voice as one file, and files that are none or mean harm."""
from __future__ import annotations

import io
import json
import random
import zipfile

import numpy as np
import pytest
import torch

from models.audio.encode import to_flac
from models.errors import SpeechError
from models.voices.library import Library
from tests.models.voices.shelf import STATE, a_clip, refusal


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
