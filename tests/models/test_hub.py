from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from huggingface_hub import constants

from models.errors import SpeechError
from models.hub import HubRefused, hub_folder

FILES = {"a/one.bin": b"1" * 3_000_000, "a/two.json": b"{}", "b/three.bin": b"3" * 10}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """A model hub with one repository, as far as its client asks."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.asked: list[str] = []
        self.gated = False
        self.missing: set[str] = set()
        self.breaks_after: int | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(False)

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.path} {self.headers.get('Range', '')}".strip())
        self._answer(True)

    def _answer(self, body: bool) -> None:
        path = self.path.split("?")[0]
        if path.startswith("/api/"):
            entries = [{"rfilename": name} for name in FILES]
            tree = [{"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                    for name, data in FILES.items()]
            found = tree if "/tree/" in path else {
                "id": "owner/name", "sha": COMMIT, "siblings": entries, "tags": [], "private": False, "downloads": 0}
            self._send(200, json.dumps(found).encode(), {"Content-Type": "application/json"}, body)
            return
        if self.server.gated:
            self._send(403, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": "gated"}, body)
            return
        name = path.split(f"/resolve/{COMMIT}/")[1]
        data = FILES[name]
        if name in self.server.missing:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"}, body)
            return
        headers = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self._send(206 if start else 200, data[start:], headers, body)

    def _send(self, status: int, data: bytes, headers: dict[str, str], body: bool) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            limit = self.server.breaks_after
            self.wfile.write(data if limit is None else data[:limit])
            if limit is not None and len(data) > limit:
                self.close_connection = True


@pytest.fixture
def server(tmp_path, monkeypatch) -> Iterator[Hub]:
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path / "home"))
    with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        thread = Thread(target=hub.serve_forever)
        thread.start()
        yield hub
        hub.shutdown()
        thread.join()


def fetch(patterns=("a/*",), lines=None):
    return hub_folder("owner/name", COMMIT, patterns, "room", "model", (lines if lines is not None else []).append)


def test_fetches_what_matches_once_and_says_how_far(server, tmp_path, capfd):
    lines: list[str] = []
    folder = fetch(lines=lines)
    assert folder.is_relative_to(tmp_path / "home" / "room")
    assert (folder / "a" / "one.bin").read_bytes() == FILES["a/one.bin"] and not (folder / "b").exists()
    assert any("%" in line for line in lines)
    server.shutdown()
    server.server_close()
    assert fetch() == folder  # no network the second time
    assert capfd.readouterr() == ("", "")


def test_a_broken_off_download_goes_on_where_it_was(server, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
    server.breaks_after = 2_000_000
    folder = fetch(("a/one.bin",))
    assert (folder / "a" / "one.bin").read_bytes() == FILES["a/one.bin"]
    assert [line.split()[1] for line in server.asked if "bytes=" in line] == ["bytes=2000000-"]


def test_a_failed_download_is_not_taken_for_whole(server):
    server.missing = {"a/two.json"}
    with pytest.raises(SpeechError) as caught:
        fetch()
    assert caught.value.code == "weights_missing" and "path" in caught.value.sentence()
    server.missing = set()
    folder = fetch()
    assert all((folder / name).read_bytes() == data for name, data in FILES.items() if name.startswith("a/"))


def test_a_repository_with_terms_to_accept_says_so(server):
    server.gated = True
    with pytest.raises(HubRefused) as caught:
        fetch()
    assert "owner/name" in caught.value.sentence() and "log in" in caught.value.sentence()
