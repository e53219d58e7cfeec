"""vits: time to first audio of English sentences, our session against piper-tts's own streaming.

Ours counts from the request's arrival to its first chunk's event; piper-tts's from the call to its first chunk. Each
turn begins with the same sentence unmeasured, or whichever side waited longer would be measured on memory that the
system has let go cold; how long that first one took is in the samples ("ours, after a pause").
"""
from __future__ import annotations

import argparse
import time

from benchmarks.common import Result, alternate, median
from benchmarks.sentences import ENGLISH
from benchmarks.vits import arguments, piper, session, specification
from models.events import AudioChunk, SpeechRequest
from models.session import Session

__all__ = ["arguments", "run"]


def run(options: argparse.Namespace) -> Result:
    spec = specification(options.threads)
    samples: dict[str, dict[str, list[float]]] = {}
    with session(spec) as ours, piper(spec) as peer:
        for text in ENGLISH:
            turns = alternate({
                "ours": lambda text=text: (first_audio(ours, text), first_audio(ours, text)),
                "piper-tts": lambda text=text: tuple(peer.ask({"text": text})["first"] for _ in range(2)),
            }, options.rounds)
            samples[text] = {side: [second for _, second in taken] for side, taken in turns.items()}
            samples[text] |= {f"{side}, after a pause": [first for first, _ in taken] for side, taken in turns.items()}
    rows = []
    for text, taken in samples.items():
        mine, theirs = median(taken["ours"]) * 1e3, median(taken["piper-tts"]) * 1e3
        rows.append((f"{len(text.split())} words", mine, theirs, mine / theirs))
    mine, theirs = (median([value for taken in samples.values() for value in taken[side]]) * 1e3
                    for side in ("ours", "piper-tts"))
    rows.append(("median of all", mine, theirs, mine / theirs))
    return Result(
        "ttfa-vits", mine / theirs, {"median_ms": mine, "threads": options.threads},
        {"piper-tts": {"median_ms": theirs, "threads": options.threads}},
        ("sentence", "ours ms", "piper-tts ms", "ratio"), rows, "0.3 x or less, and a median under 47 ms when idle",
        samples,
    )


def first_audio(ours: Session, text: str) -> float:
    """Seconds from arrival to the first chunk; the rest is heard out, so that no work is left for the next turn."""
    request = SpeechRequest(text=text)
    first = None
    for event in ours.stream(request):
        if first is None and isinstance(event, AudioChunk):
            first = time.monotonic() - request.arrived
    return first
