"""kokoro: first audio of a 400-character paragraph, our session against create_stream and the official pipeline.

Ours counts from the request's arrival to its first chunk's event; the peers' from the call to the first chunk that
they hand out. Phonemes of the text are made anew on all sides.
"""
from __future__ import annotations

import argparse
import time

from benchmarks.common import Result, alternate, median
from benchmarks.kokoro import arguments, peers, session, specification, voice
from models.events import AudioChunk, SpeechRequest
from models.session import Session
from models.text.phonemes import cache

__all__ = ["arguments", "run"]

PARAGRAPH = (
    "The old lighthouse had been empty for as long as anyone could remember, and yet on the first night of the storm a "
    "light was seen in its highest window. Some said that it was only the moon. Others were sure that a traveller had "
    "lost the road and found the door unlocked. In the morning the fishermen climbed the hill together, opened the "
    "door, and found a kettle on the stove that was still warm."
)


def run(options: argparse.Namespace) -> Result:
    with session(specification(options)) as ours, peers(options) as others:
        sides = {"ours": lambda: first_audio(ours)}
        sides |= {name: lambda peer=peer: peer.ask({"text": PARAGRAPH})["first"] for name, peer in others.items()}
        samples = alternate(sides, options.rounds)
    taken = {side: median(values) * 1e3 for side, values in samples.items()}
    mine = taken.pop("ours")
    return Result(
        "ttfa-kokoro", mine / min(taken.values()), {"median_ms": mine, "threads": options.threads},
        {name: {"median_ms": value, "threads": options.threads} for name, value in taken.items()},
        ("engine", "first audio ms", "ours over it"),
        [("ours", mine, 1.0), *((name, value, mine / value) for name, value in taken.items())],
        "0.05 x or less", samples,
    )


def first_audio(ours: Session) -> float:
    """Seconds from arrival to the first chunk; the rest is heard out, so that no work is left for the next turn."""
    cache.clear()
    request = SpeechRequest(text=PARAGRAPH, voice=voice())
    first = None
    for event in ours.stream(request):
        if first is None and isinstance(event, AudioChunk):
            first = time.monotonic() - request.arrived
    return first
