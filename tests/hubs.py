"""The remote side of a download: a server that speaks the model hub's and ModelScope's protocols, as far as their
official clients ask."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """repositories: OWNER/NAME -> path -> content. asked: what was downloaded, with the Range asked for.

    gated, private: repositories refused with 403 and 401. missing: paths answered with 404. breaks_after: bytes after
    which a transfer's connection is cut; stalls_after: bytes after which it stands still until `go_on` is set.
    """

    daemon_threads = True

    def __init__(self, repositories: dict[str, dict[str, bytes]]):
        super().__init__(("127.0.0.1", 0), Answers)
        self.repositories = repositories
        self.asked: list[str] = []
        self.gated: set[str] = set()
        self.private: set[str] = set()
        self.missing: set[str] = set()
        self.breaks_after: int | None = None
        self.stalls_after: int | None = None
        self.stalled, self.go_on = Event(), Event()
        self.storage = ""
        self.damages = False
        self.tokens: set[str | None] = set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address) -> None:
        pass  # clients hang up: that is what some tests are about


class Answers(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.server.tokens.add(self.headers.get("Authorization"))
        address = urlsplit(self.path)
        path, query = unquote(address.path), parse_qs(address.query)
        if path.startswith("/api/v1/models/"):
            self._modelscope(path.removeprefix("/api/v1/models/"), query)
        elif path.startswith("/api/models/"):
            self._listing(path.removeprefix("/api/models/"))
        else:
            repo, _, rest = path.lstrip("/").partition("/resolve/")
            self._file(repo, rest.partition("/")[2])

    # -- the model hub

    def _listing(self, path: str) -> None:
        repo = "/".join(path.split("/")[:2])
        files = self.server.repositories.get(repo)
        if files is None:
            self._send(404, b"", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif repo in self.server.private:
            self._send(401, b"", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        else:
            self._json({"id": repo, "sha": COMMIT, "siblings": [_entry(name, data) for name, data in files.items()],
                        "tags": [], "private": False, "downloads": 0})

    def _file(self, repo: str, name: str) -> None:
        if repo in self.server.gated:
            self._send(403, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": "gated"})
        elif name in self.server.missing or name not in self.server.repositories.get(repo, {}):
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
        elif self.server.storage and not name.endswith(".json"):
            data = self.server.repositories[repo][name]
            self._send(302, b"", {"X-Repo-Commit": COMMIT, "X-Linked-Size": str(len(data)),
                                  "X-Linked-ETag": f'"{hashlib.sha256(data).hexdigest()}"',
                                  "Location": self.server.storage + self.path})
        else:
            self._content(name, self.server.repositories[repo][name], {"X-Repo-Commit": COMMIT})

    # -- ModelScope

    def _modelscope(self, path: str, query: dict[str, list[str]]) -> None:
        repo, rest = "/".join(path.split("/")[:2]), "/".join(path.split("/")[2:])
        files = self.server.repositories.get(repo)
        if files is None or (rest == "repo" and query["FilePath"][0] not in files):
            self._json({"Code": 10010205001, "Success": False, "Message": "not found"}, 404)
        elif repo in self.server.private:
            self._json({"Code": 10010103009, "Success": False, "Message": "login please"}, 401)
        elif rest == "repo/files":
            entries = [{"Path": name, "Name": name, "Type": "blob", "Size": len(data),
                        "Sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()]
            self._json({"Code": 200, "Success": True, "Data": {"Files": entries}})
        elif rest == "repo":
            name = query["FilePath"][0]
            self._content(name, files[name], {})
        else:
            self._json({"Code": 200, "Success": True, "Data": {}})

    # -- both

    def _content(self, name: str, data: bytes, headers: dict[str, str]) -> None:
        wish = self.headers.get("Range", "")
        if self.command == "GET":
            self.server.asked.append(f"{name} {wish}".strip())
        if self.server.damages:
            data = bytes([data[0] ^ 1]) + data[1:]
        start, _, end = wish.removeprefix("bytes=").partition("-")
        start, end = int(start or 0), int(end or len(data) - 1)
        if start >= len(data) > 0:
            self._send(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            return
        headers = {**headers, "ETag": f'"{hashlib.sha1(data).hexdigest()}"', "Accept-Ranges": "bytes"}
        if wish:
            headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        self._send(206 if wish else 200, data[start:end + 1], headers)

    def _json(self, content: object, status: int = 200) -> None:
        self._send(status, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        breaks, stalls = self.server.breaks_after, self.server.stalls_after
        if stalls is not None and len(data) > stalls:
            self.wfile.write(data[:stalls])
            self.wfile.flush()
            self.server.stalled.set()
            self.server.go_on.wait(60)
            data = data[stalls:]
        self.wfile.write(data if breaks is None else data[:breaks])
        if breaks is not None and len(data) > breaks:
            self.close_connection = True


def _entry(name: str, data: bytes) -> dict:
    """Text is kept in the repository itself, all else beside it, with another checksum."""
    entry = {"rfilename": name, "size": len(data), "blobId": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()}
    if not name.endswith((".json", ".md")):
        entry["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
    return entry


@contextmanager
def running(repositories: dict[str, dict[str, bytes]]) -> Iterator[Hub]:
    with Hub(repositories) as hub:
        thread = Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield hub
        finally:
            hub.go_on.set()
            hub.shutdown()
            thread.join()


def files_of(folder: Path) -> dict[str, bytes]:
    """A folder's files as a repository's."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
