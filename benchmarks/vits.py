"""What the vits benchmarks share: our session and piper-tts on the same voice, with the same number of threads."""
from __future__ import annotations

import argparse
import importlib.metadata
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.peer import Peer, environment
from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.families.vits.engine import default_threads
from models.families.vits.piper import find_voices
from models.session import Session

PIPER = "piper-tts==1.8.0"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, default=default_threads(),
                        help="threads of each side (default %(default)s, a session's own)")


def specification(threads: int) -> ModelSpec:
    """The default voice; phonemes are not remembered, so that a repeated sentence costs what a new one does."""
    options = defaults_of(family("vits").options)
    return ModelSpec("vits", "vits", options=options | {"threads": threads, "phoneme_cache_slots": 0})


@contextmanager
def session(spec: ModelSpec) -> Iterator[Session]:
    ours = Session(spec)
    ours.start()
    ours.wait_ready(600)
    try:
        yield ours
    finally:
        ours.close()


def piper(spec: ModelSpec) -> Peer:
    """piper-tts with our onnxruntime's version, on our voice's file."""
    folder = family("vits").fetch(spec, print)
    file = find_voices(folder, spec.id)[0].file
    python = environment("piper-tts", [PIPER, f"onnxruntime=={importlib.metadata.version('onnxruntime')}"])
    return Peer(python, "piper_tts.py", {"model": str(file), "threads": spec.options["threads"]})
