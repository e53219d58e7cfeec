"""A listener: one request over HTTP, timed as a client sees it."""
from __future__ import annotations

import hashlib
import time
import urllib.error
from dataclasses import dataclass
from typing import Any

from tests.served import Served


@dataclass(frozen=True)
class Heard:
    """ttfa: seconds from sending to the first audio bytes. digest: sha256 of the PCM, to compare with what it should be."""

    ttfa: float
    total: float
    audio_seconds: float
    digest: str
    request_id: str
    error: str = ""


def listen(served: Served, **body: Any) -> Heard:
    """Speak one text and take all of it. A refused or broken answer is told in `error`."""
    began, first, size = time.perf_counter(), 0.0, 0
    digest = hashlib.sha256()
    try:
        with served.post("api/stream", body) as answer:
            rate = int(answer.headers["X-Sample-Rate"])
            while piece := answer.read1(65536):
                first = first or time.perf_counter() - began
                size += len(piece)
                digest.update(piece)
            request_id = answer.headers["X-Request-Id"]
    except (urllib.error.URLError, OSError) as error:
        return Heard(0, time.perf_counter() - began, 0, "", "", f"{type(error).__name__}: {error}")
    return Heard(first, time.perf_counter() - began, size / 2 / rate, digest.hexdigest(), request_id)
