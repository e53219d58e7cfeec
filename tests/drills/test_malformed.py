"""Two thousand requests that are wrong somewhere, over every route the OpenAPI document names: none is the server's fault,
and the server is as it was."""
from __future__ import annotations

import json
import random
from collections import Counter

import httpx
import psutil

from tests.waiting import until

COUNT = 2000
GROWTH = 80e6  # bytes
VALUES = ["", "x", "\ud800", "\0", "../../../etc/passwd", "my:../../x", "af_heart(", "🙂" * 40, "A" * 5000, "joe", "auto", 0, -1, 1e308,
          10**300, True, None, [], {}, [[[]]], {"a": {"b": 1}}, "file:///etc/passwd", "http://localhost/", "os.system"]
FIELDS = ["text", "input", "model", "voice", "language", "speed", "seed", "options", "id", "name", "consent", "who", "clip", "shared",
          "response_format", "stream_format", "transcript", "tags", "__class__", "fn_index", "data", "session_hash"]
KINDS = ["application/json", "multipart/form-data; boundary=b", "multipart/form-data", "text/plain", "application/x-www-form-urlencoded",
         "application/json; charset=utf-7", "?;;="]
MORE = ["/login", "/logout", "/gradio_api/queue/join", "/gradio_api/run/speak", "/gradio_api/call/speak", "/gradio_api/upload",
        "/gradio_api/file=..%2f..%2fetc%2fpasswd", "/gradio_api/queue/data", "/api/voices/{voice}/../..", "/static/../app.py"]


class Dice(random.Random):
    def value(self, depth: int = 0):
        if depth < 2 and self.random() < 0.2:
            return {self.choice(FIELDS): self.value(depth + 1) for _ in range(self.randrange(3))}
        return self.choice(VALUES)

    def body(self) -> bytes:
        match self.randrange(6):
            case 0:
                return self.randbytes(self.randrange(300))
            case 1:
                return b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + self.randbytes(99) + b"\r\n--b--\r\n"
            case 2:
                return json.dumps(self.value()).encode()[:self.randrange(1, 60)]
            case _:
                return json.dumps({self.choice(FIELDS): self.value() for _ in range(self.randrange(6))}).encode()

    def path(self, paths: list[str]) -> str:
        path = self.choice(paths)
        while "{" in path:
            start, _, rest = path.partition("{")
            hole = self.choice(["0" * 32, "x", "..", "%2e%2e%2f", "%00", "my:x", "é", "a" * 300, "'--", "%ff"])
            path = start + hole + rest.partition("}")[2]
        return path + self.choice(["", "", "", "?model=%ff", "?token=x", "?search=" + "y" * 2000, "/", "?__proto__=1"])


def test_two_thousand_malformed_requests(served):
    dice, answers, server = Dice(20), Counter(), psutil.Process(served.pid)
    with httpx.Client(base_url=served.url, timeout=60, follow_redirects=False) as client:
        document = client.get("api/openapi.json").json()
        paths = [*document["paths"], *MORE]
        client.post("api/stream", json={"text": "Warm."})
        before, files = server.memory_info().rss, server.num_fds()
        for number in range(COUNT):
            method = dice.choice(["GET", "POST", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
            request = client.build_request(method, dice.path(paths), content=dice.body(), headers={
                "Content-Type": dice.choice(KINDS), "Accept-Language": dice.choice([b"zh", b"en", b"\xff\xfe", b"q=;;,"])})
            answer = client.send(request, stream=True)
            answers[answer.status_code] += 1
            told = answer.read().decode(errors="replace") if answer.status_code >= 500 else ""
            answer.close()
            if "event-stream" in answer.headers.get("content-type", "") and answer.status_code == 200:
                continue  # hung up on
            assert answer.status_code < 500 or answer.status_code in (503, 507), (number, request.method, str(request.url), told)
        assert sum(answers.values()) == COUNT and answers[200] < COUNT / 2, answers
        until(served.idle, 60)
        assert client.post("api/stream", json={"text": "And it still speaks."}).status_code == 200
        until(lambda: server.num_fds() < files + 20, 30)
    assert server.memory_info().rss < before + GROWTH
    assert "Traceback" not in served.log.read_text("utf-8", "replace")
