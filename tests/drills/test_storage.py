"""A disk that takes no more while a voice is being saved: it is said, nothing is lost, and nothing half is left."""
from __future__ import annotations

import resource
from contextlib import contextmanager

import numpy as np
import psutil
import pytest
from httpx import Client

from models.errors import SpeechError
from models.voices.clip import Clip
from models.voices.library import Library
from tests.server.cloning import SPEECH, joes_voice


@contextmanager
def full(pid: int, size: int):
    """No file of that process may grow beyond `size` bytes: its writes fail in their midst."""
    process = psutil.Process(pid)
    before = process.rlimit(psutil.RLIMIT_FSIZE)
    process.rlimit(psutil.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        process.rlimit(psutil.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 100, 20_000])
def test_the_library_is_as_it_was(tmp_path, size):
    library, clip = Library(tmp_path / "voices"), Clip(np.random.default_rng(0).uniform(-0.3, 0.3, 96_000).astype(np.float32), 24_000)
    kept = library.save(clip, "Before", "me", "me")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        for change in (lambda: library.save(clip, "During", "me", "me"), lambda: library.duplicate(kept.id, "me", "Copy"),
                       lambda: library.edit(kept.id, "me", notes="x" * 30_000 if size > 1000 else "changed")):
            with pytest.raises(SpeechError) as caught:
                change()
            assert caught.value.code in ("storage_failed", "field_invalid") and caught.value.status in (507, 422)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [voice.name for voice in library.list("me")] == ["Before"] and library.get(kept.id, "me").notes == ""
    assert not list(library.folder.glob(".new-*")) and not list(library.folder.rglob("*.new"))
    assert library.save(clip, "During", "me", "me").name == "During"


def test_a_visitor_is_told_and_can_save_again(served):
    with Client(base_url=served.url, timeout=120) as page:
        page.get("")
        clip = page.post("api/voices/clips", files={"file": ("a.flac", joes_voice(served))}).json()["clip"]
        body = {"clip": clip, "name": "Joe", "who": "Joe", "consent": True, "language": "en", "transcript": SPEECH}
        with full(served.pid, 20_000):
            answer = page.post("api/voices", json=body)
            assert answer.status_code == 507 and "save it again" in answer.json()["error"]["message"]
            assert page.get("api/voices").json()["voices"] == []
            assert page.post("api/stream", json={"text": "It still speaks."}).status_code == 200
        saved = page.post("api/voices", json=body)
        assert saved.status_code == 201 and [one["name"] for one in page.get("api/voices").json()["voices"]] == ["Joe"]
        page.delete(f"api/voices/{saved.json()['id']}")
