from __future__ import annotations

import os
import time

import pytest

from models.folders import LEFT, making, replacing


def test_a_half_made_folder_is_never_seen(tmp_path):
    target = tmp_path / "package"
    with pytest.raises(RuntimeError), making(target) as work:
        (work / "part").write_text("half")
        assert not target.exists()
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_the_first_of_two_makers_wins(tmp_path):
    target = tmp_path / "package"
    with making(target) as late:
        (late / "file").write_text("late")
        with making(target) as early:
            (early / "file").write_text("early")
    assert (target / "file").read_text() == "early"
    assert list(tmp_path.iterdir()) == [target]


def test_what_a_killed_process_left_goes_and_what_another_is_making_stays(tmp_path):
    (tmp_path / ".voices.dead").mkdir()
    (tmp_path / ".voices.dead" / "half").write_bytes(b"1")
    (tmp_path / ".voices.alive").mkdir()
    for name in (".table.dead.new", ".table.alive.new"):
        (tmp_path / name).write_bytes(b"1")
    for name in (".voices.dead", ".table.dead.new"):
        os.utime(tmp_path / name, (0, time.time() - LEFT - 60))
    with making(tmp_path / "voices") as folder:
        (folder / "one").write_bytes(b"2")
    with replacing(tmp_path / "table") as file:
        file.write_bytes(b"2")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".table.alive.new", ".voices.alive", "table", "voices"]


def test_a_file_that_could_not_be_written_leaves_the_old_one(tmp_path):
    (tmp_path / "table").write_bytes(b"old")
    with pytest.raises(RuntimeError), replacing(tmp_path / "table") as file:
        file.write_bytes(b"ha")
        raise RuntimeError
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
