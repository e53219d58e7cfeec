from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from huggingface_hub import constants

from models import huggingface
from models.errors import SpeechError
from models.hub import HubRefused, hub_folder, is_here
from models.weights import offline
from tests.hubs import COMMIT, Hub, running
from tests.served import ROOT

REPO = "owner/name"
FILES = {"a/one.bin": b"1" * 3_000_000, "a/two.json": b"{}", "b/three.bin": b"3" * 10}


@pytest.fixture
def server(tmp_path, monkeypatch) -> Iterator[Hub]:
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("READYVOICE_MIRROR", raising=False)
    with running({REPO: FILES}) as running_hub:
        monkeypatch.setenv("HF_ENDPOINT", running_hub.address)
        yield running_hub


def fetch(patterns=("a/*",), lines=None, repo=REPO):
    return hub_folder(repo, COMMIT, patterns, "room", "model", (lines if lines is not None else []).append)


def test_fetches_what_matches_once_and_says_how_far(server, tmp_path, capfd):
    lines: list[str] = []
    assert not is_here(REPO, COMMIT, ["a/*"], "room")
    folder = fetch(lines=lines)
    assert folder.is_relative_to(tmp_path / "home" / "room")
    assert (folder / "a" / "one.bin").read_bytes() == FILES["a/one.bin"] and not (folder / "b").exists()
    assert any("%" in line for line in lines)
    server.shutdown()
    server.server_close()
    assert fetch() == folder and is_here(REPO, COMMIT, ["a/*"], "room")  # no network the second time
    assert capfd.readouterr() == ("", "")


def test_nothing_is_asked_for_offline(server):
    with offline(), pytest.raises(SpeechError) as caught:
        fetch()
    assert caught.value.code == "weights_missing" and server.asked == []


def test_a_broken_off_download_goes_on_where_it_was(server, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
    server.breaks_after = 2_000_000
    folder = fetch(("a/one.bin",))
    assert (folder / "a" / "one.bin").read_bytes() == FILES["a/one.bin"]
    assert [line.split()[1] for line in server.asked if "bytes=" in line] == ["bytes=2000000-"]


def test_files_on_another_host_are_gone_on_with_and_the_token_is_not_shown_to_it(server, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with running({REPO: FILES}) as storage:
        storage.breaks_after = 2_000_000
        server.storage = storage.address
        folder = fetch()
        assert (folder / "a" / "one.bin").read_bytes() == FILES["a/one.bin"]
        assert storage.asked == ["a/one.bin", "a/one.bin bytes=2000000-"] and server.asked == ["a/two.json"]
        assert storage.tokens == {None} and server.tokens == {"Bearer hf_secret"}


def test_an_ended_process_leaves_what_the_next_one_goes_on_with(server, tmp_path):
    """The client writes 10 MB at a time: of 25 MB that arrived, 20 need not come again."""
    content = os.urandom(30_000_000)
    server.repositories[REPO] = {"big.bin": content}
    server.stalls_after = 25_000_000
    script = f"from models.hub import hub_folder; hub_folder({REPO!r}, None, ['big.bin'], 'room', 'model', print)"
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        assert server.stalled.wait(60)
        part = tmp_path / "home" / "room"
        ends = time.monotonic() + 30
        while sum(file.stat().st_size for file in part.rglob("big.bin*")) < 20_000_000:
            assert time.monotonic() < ends
            time.sleep(0.05)
        process.kill()
    server.stalls_after = None
    server.go_on.set()
    folder = hub_folder(REPO, None, ["big.bin"], "room", "model")
    assert (folder / "big.bin").read_bytes() == content
    again = [int(line.split("bytes=")[1].rstrip("-")) for line in server.asked if "bytes=" in line]
    assert again and again[0] >= 20_000_000


def test_a_failed_download_is_not_taken_for_whole(server):
    server.missing = {"a/two.json"}
    with pytest.raises(SpeechError) as caught:
        fetch()
    assert caught.value.code == "weights_missing" and "path" in caught.value.sentence()
    server.missing = set()
    folder = fetch()
    assert all((folder / name).read_bytes() == data for name, data in FILES.items() if name.startswith("a/"))


def test_what_arrived_damaged_or_changed_since_is_fetched_again(server):
    folder = fetch()
    marker, = (folder / ".complete").iterdir()
    marker.unlink()
    (folder / "a" / "one.bin").write_bytes(b"2" * 3_000_000)  # of the right size
    before = len(server.asked)
    fetch()
    assert (folder / "a" / "one.bin").read_bytes() == FILES["a/one.bin"] and server.asked[before:] == ["a/one.bin"]


def test_a_damaged_file_is_never_taken(server):
    server.damages = True
    with pytest.raises(SpeechError, match="a/one.bin arrived from 127.0.0.1:[0-9]+ damaged.*start again"):
        fetch()
    server.damages = False
    assert (fetch() / "a" / "one.bin").read_bytes() == FILES["a/one.bin"]


def test_a_full_disk_is_said(server, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("huggingface_hub.file_download.http_get", full)
    with pytest.raises(SpeechError, match="is full.*free some space"):
        fetch()


def test_a_repository_without_the_files(server):
    with pytest.raises(SpeechError, match="has none of the files that are needed"):
        fetch(("*.onnx",))


def test_a_repository_with_terms_to_accept_says_so(server):
    server.gated = {REPO}
    with pytest.raises(HubRefused) as caught:
        fetch()
    assert "owner/name" in caught.value.sentence() and "log in" in caught.value.sentence()


def test_a_repository_that_is_not_there_or_private(server):
    for repo in ("owner/nowhere", REPO):
        server.private = {REPO}
        with pytest.raises(SpeechError) as caught:
            fetch(repo=repo)
        said = caught.value.sentence()
        assert caught.value.code == "weights_missing" and f"it has no {repo}" in said and "hf auth login" in said


def test_a_hub_that_never_answers_fails_within_seconds(server, monkeypatch):
    monkeypatch.setattr(huggingface, "ANSWER_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        with pytest.raises(SpeechError) as caught:
            fetch()
        assert time.monotonic() - began < 10
    assert "does not answer" in caught.value.sentence() and "READYVOICE_MIRROR" in caught.value.sentence()


def test_an_unknown_mirror_is_refused(server, monkeypatch):
    monkeypatch.setenv("READYVOICE_MIRROR", "modelscpe")
    with pytest.raises(SpeechError, match="READYVOICE_MIRROR must be modelscope"):
        fetch()
