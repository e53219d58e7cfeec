"""What is free, what a session takes, and that it comes back."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from models.events import SpeechRequest
from models.families import family
from models.families.protocol import ModelSpec
from models.memory import free_bytes, resident_bytes
from models.session import Session

ROOT = Path(__file__).resolve().parents[2]
GB = 2**30
TEXT = "It was a long way to the sea, and nobody knew the road there. " * 4


def group(folder: Path, names: tuple[str, str, str], limit: object, used: int, inactive: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\n{names[2]} {inactive}\n")


SECOND = ("memory.max", "memory.current", "inactive_file")
FIRST = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def test_the_limit_of_a_container_counts(tmp_path):
    own = tmp_path / "cgroup"
    own.write_text("0::/\n")
    group(tmp_path / "fs", SECOND, GB, GB // 2, GB // 8)
    assert free_bytes(tmp_path / "fs", own) == GB // 2 + GB // 8
    group(tmp_path / "fs", SECOND, "max", GB // 2, 0)
    assert free_bytes(tmp_path / "fs", own) == pytest.approx(psutil.virtual_memory().available, rel=0.2)


def test_the_narrowest_of_nested_groups_counts(tmp_path):
    own = tmp_path / "cgroup"
    own.write_text("0::/service/one\n")
    group(tmp_path / "fs" / "service", SECOND, GB // 4, GB // 8, 0)
    group(tmp_path / "fs" / "service" / "one", SECOND, GB, GB // 8, 0)
    assert free_bytes(tmp_path / "fs", own) == GB // 8


def test_groups_of_the_first_version_count_too(tmp_path):
    own = tmp_path / "cgroup"
    own.write_text("9:name=systemd:/\n4:memory:/docker/abc\n0::/\n")
    group(tmp_path / "fs" / "memory", FIRST, GB, GB, GB // 4)  # in a container the path is the host's: its root is ours
    assert free_bytes(tmp_path / "fs", own) == GB // 4
    group(tmp_path / "fs" / "memory" / "docker" / "abc", FIRST, GB // 2, GB // 2, 0)
    assert free_bytes(tmp_path / "fs", own) == 0


def test_without_groups_the_machine_is_asked(tmp_path):
    assert free_bytes(tmp_path, tmp_path / "none") == pytest.approx(psutil.virtual_memory().available, rel=0.2)


def loaded(name: str) -> tuple[Session, int]:
    options = {option: about.default for option, about in family(name).options.items()}
    session = Session(ModelSpec(name, name, options=options))
    session.start()
    session.wait_ready(300)
    session.run(SpeechRequest(TEXT, seed=1))
    return session, resident_bytes()


@pytest.mark.parametrize("name", ["vits", "kokoro"])
def test_unloading_gives_the_memory_back_and_a_request_loads_it_again(name):
    session, _ = loaded(name)  # its libraries stay
    try:
        assert session.unload() and session.state == "unloaded"
        before = resident_bytes()
        session.run(SpeechRequest(TEXT, seed=1))
        assert session.state == "ready"
        full = resident_bytes()
        assert session.unload()
        after = resident_bytes()
        assert full - before > 100 * 2**20
        assert after - before < 0.3 * (full - before), (before, full, after)
        assert session.worker.loaded is None and session.report()["memory_bytes"] == 0
    finally:
        session.close()


SCRIPT = """
import json, sys
from models.memory import few_arenas, resident_bytes
few_arenas()
from models.families import family
from tests.models.test_memory import loaded
start = resident_bytes()
session, full = loaded(sys.argv[1])
told = family(sys.argv[1]).estimate(session.spec)
session.close()
print(json.dumps([told, full - start, full - resident_bytes(), sum(family(sys.argv[1]).libraries.values())]))
"""


@pytest.mark.parametrize("name", ["vits", "kokoro"])
def test_estimates_are_what_a_new_process_needs(name):
    done = subprocess.run([sys.executable, "-c", SCRIPT, name], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told, took, own, libraries = json.loads(done.stdout.splitlines()[-1])
    assert 0.85 * took < told < 1.25 * took
    assert 0.8 * own < told - libraries < 1.4 * own


FREED = """
import threading
import numpy as np
from models.memory import few_arenas, resident_bytes, trim
few_arenas()

def work():
    np.ones(32 * 2**20 - 2**16, np.uint8)  # freeing what was mapped teaches glibc to keep up to twice as much
    before = resident_bytes()
    blocks = [np.ones(2**20, np.uint8) for _ in range(50)]  # and nothing behind them
    blocks.clear()
    trim()
    print(resident_bytes() - before)

trim()
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_what_a_thread_freed_at_the_end_of_its_arena_goes_back_too():
    done = subprocess.run([sys.executable, "-c", FREED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 5 * 2**20
