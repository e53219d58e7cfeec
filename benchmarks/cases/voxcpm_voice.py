"""VoxCPM: first sound and pace in a cloned voice, its state kept, against encoding anew and against the package.

A checkpoint of the published size with random weights (made once below READYVOICE_HOME/benchmarks) costs the same a
patch as the real one. Sides, all in this process on the same threads and number format, all streaming:

kept       our session, the voice's prefilled state in its cache
anew       our session without cache slots: clip encoded and prefilled in every request
features   the package with the clip's features kept (`build_prompt_cache`), prefilling all of it in every call
package    the package as its documentation calls it: clip encoded in every call
"""
from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch

from benchmarks.common import Result, alternate, median
from benchmarks.families import official_voxcpm
from benchmarks.full_size import checkpoint
from benchmarks.vits import session
from models.events import AudioChunk, SpeechRequest
from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.families.voxcpm.checkpoint import open_checkpoint
from models.families.voxcpm.engine import Engine
from models.session import Session
from models.voices.clip import Clip
from tests.checkpoints.make_voxcpm import VERSIONS

ROUNDS = 7
TEXT = "The ships in the harbour are waiting for the wind to turn, and so are we."
WORDS = "These are the words that are spoken in the clip, and they take about eight seconds to say in all."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", choices=VERSIONS, default="1.5")
    parser.add_argument("--patches", type=int, default=12, help="sound made by each measurement (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=8.0, help="length of the clip (default %(default)s)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="(default %(default)s)")


def run(options: argparse.Namespace) -> Result:
    torch.set_num_threads(options.threads)
    folder = checkpoint(f"voxcpm-{options.version}")
    rate = 16000
    time_axis = np.arange(round(options.seconds * rate)) / rate
    clip = Clip((0.2 * np.sin(2 * np.pi * 140 * time_axis)).astype(np.float32), rate, WORDS)
    specs = {name: _spec(folder, slots) for name, slots in (("kept", 1), ("anew", 0))}
    with session(specs["kept"]) as kept, session(specs["anew"]) as anew:
        engine = kept.model._engine
        theirs = _package(folder, kept)
        sides = {
            "kept": lambda: _measured(_ours(kept, clip), options.patches, engine),
            "anew": lambda: _measured(_ours(anew, clip), options.patches, engine),
            "features": lambda: _measured(theirs.generate_with_prompt_cache_streaming(TEXT, features), options.patches, engine),
            "package": lambda: _measured(theirs.generate_with_prompt_cache_streaming(TEXT, _features(engine, clip)),
                                         options.patches, engine, lambda: _features(engine, clip)),
        }
        features = _features(engine, clip)
        taken = alternate(sides, options.rounds)
        prefilled = _positions(kept, clip), _positions(anew, clip)
    figures = {name: {"ttfa_ms": 1e3 * median([first for first, _ in pairs]), "rtf": median([rtf for _, rtf in pairs])}
               for name, pairs in taken.items()}
    ours = figures.pop("kept")
    rows = [[name, values["ttfa_ms"], values["ttfa_ms"] / ours["ttfa_ms"], values["rtf"]]
            for name, values in (("kept", ours), *figures.items())]
    return Result(
        f"voxcpm-voice {options.version}", ours["ttfa_ms"] / min(figures[name]["ttfa_ms"] for name in ("features", "package")),
        ours | {"prefilled_positions": prefilled[0]}, figures | {"anew": figures["anew"] | {"prefilled_positions": prefilled[1]}},
        ("side", "first sound ms", "of kept", "RTF"), rows, "below 1: first sound sooner than the package's", taken)


def _spec(folder, slots: int) -> ModelSpec:
    options = defaults_of(family("voxcpm").options) | {"prompt_cache_slots": slots}
    return ModelSpec(f"voxcpm-{slots}", "voxcpm", folder, options=options)


def _package(folder, ours: Session):
    """The package's model, in our session's number format."""
    theirs = open_checkpoint(folder, "bench").config["dtype"]
    if ours.model.precision != theirs:
        raise SystemExit(f"the package runs in {theirs} and our session in {ours.model.precision}")
    return official_voxcpm(folder, ours.spec.device, optimize=False)


def _ours(speaker: Session, clip: Clip) -> Iterator[np.ndarray]:
    stream = speaker.stream(SpeechRequest(TEXT, seed=1, clip=clip))
    try:
        yield from (event.samples for event in stream if isinstance(event, AudioChunk))
    finally:
        stream.close()


def _features(engine: Engine, clip: Clip) -> dict:
    from models.audio.resample import resample

    with torch.inference_mode():
        samples = resample(clip.samples, clip.sample_rate, engine.clip_rate)
        features = {"prompt_text": clip.transcript, "audio_feat": engine.encode(samples, pad_left=True).cpu()}
        if engine.second:
            features |= {"ref_audio_feat": engine.encode(samples, pad_left=False).cpu(), "mode": "ref_continuation"}
    return features


def _measured(chunks: Iterator, patches: int, engine: Engine, before: Callable[[], object] | None = None) -> tuple[float, float]:
    """Seconds to the first sound, and RTF of what follows it."""
    began = time.perf_counter()
    if before:
        before()
    next(chunks)
    first = time.perf_counter()
    count = sum(1 for _ in itertools.islice(chunks, patches - 1))
    last = time.perf_counter()
    chunks.close()
    return first - began, (last - first) / (count * engine.patch_seconds)


def _positions(speaker: Session, clip: Clip) -> int:
    """Positions computed before the first sound of a request."""
    stack = speaker.model._engine.base
    before, sound = stack.positions_run, _ours(speaker, clip)
    next(sound)
    sound.close()
    while speaker.worker.counts() != (0, 0):
        time.sleep(0.01)
    return stack.positions_run - before
