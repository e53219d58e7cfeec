"""Several who write at once, and sudden ends."""
from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
import torch

from models.errors import SpeechError
from models.voices.library import Library
from tests.models.voices.shelf import STATE, a_clip
from tests.served import ROOT


WRITER = """
import itertools, os, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from models.voices.library import KEPT, Library
from tests.models.voices.shelf import STATE, a_clip
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
