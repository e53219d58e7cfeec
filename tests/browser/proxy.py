"""A reverse proxy with the habits of real ones: it serves below a sub-path, is slow, or breaks a stream."""
from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOP = {"connection", "transfer-encoding", "content-length", "host", "keep-alive"}


@dataclass
class Proxy:
    """url: where it listens, with its prefix. pace: bytes of a stream it passes a second. cut: bytes of a stream after
    which it breaks the connection. gone: refuses everything."""

    url: str
    pace: float | None = None
    cut: int | None = None
    gone: bool = False


@contextmanager
def proxy(target: str, prefix: str = "") -> Iterator[Proxy]:
    """In front of `target`. prefix: the sub-path it strips, without a word about it to the server."""
    backend = urlsplit(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def handle_one_request(self):
            try:
                super().handle_one_request()
            except OSError:
                self.close_connection = True

        def do_GET(self):
            if state.gone:
                return self.hang_up()
            if not self.path.startswith(f"{prefix}/"):
                return self.send_error(404)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            connection = http.client.HTTPConnection(backend.hostname, backend.port, timeout=60)
            try:
                connection.request(self.command, self.path[len(prefix):], body or None, headers)
                self.answer(connection.getresponse())
            finally:
                connection.close()

        do_POST = do_PUT = do_DELETE = do_HEAD = do_GET

        def answer(self, response: http.client.HTTPResponse):
            self.send_response(response.status)
            for name, value in response.getheaders():
                if name.lower() not in HOP | {"date", "server"}:
                    self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            stream, passed, start = self.path.endswith("api/stream"), 0, time.monotonic()
            while data := response.read1(2048 if stream else 65536):
                if stream and state.cut is not None and passed + len(data) > state.cut:
                    return self.hang_up()
                passed += len(data)
                if stream and state.pace:
                    time.sleep(max(0.0, start + passed / state.pace - time.monotonic()))
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

        def hang_up(self):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            pass  # a browser that leaves

    server = Server(("127.0.0.1", 0), Handler)
    state = Proxy(f"http://127.0.0.1:{server.server_port}{prefix}/")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
