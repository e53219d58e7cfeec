"""kokoro: compute time over audio time on the same phonemes, against kokoro-onnx int8 and the official torch float32.

All speak the same phonemes of 6 sentences of 6 to 40 words, each whole, in the same voice. The ratio is ours
over the better peer.
"""
from __future__ import annotations

import argparse
import time

from benchmarks.common import Result, alternate, median
from benchmarks.kokoro import arguments, peers, specification, voice
from benchmarks.sentences import ENGLISH
from models.families import family
from models.families.kokoro import device, engine, phonemes, voices, weights
from models.text import Run
from models.text.phonemes import kokoro_runs

__all__ = ["arguments", "run"]


def run(options: argparse.Namespace) -> Result:
    spec = specification(options)
    folder = family("kokoro").fetch(spec, print)
    where, precision = device.choose(spec.device, spec.precision)
    ours = engine.load(weights.model_file(folder), where, precision, print)
    style = voices.stock(weights.folder() / weights.VOICES_FILE)[voice()]()
    lines = [kokoro_runs([Run(text, "en")]) for text in ENGLISH[1::2]]
    tokens = [phonemes.ids(line, phonemes.VOCABULARY) for line in lines]
    noise = engine.Noise(0)

    def speak() -> float:
        began, samples = time.perf_counter(), 0
        for ids in tokens:
            samples += ours.speak([phonemes.BOUNDARY, *ids, phonemes.BOUNDARY], style[len(ids) - 1], 1.0, noise)[0].size
        return (time.perf_counter() - began) / (samples / 24_000)

    with peers(options) as others:
        def theirs(name: str) -> float:
            answer = others[name].ask({"phonemes": lines})
            return answer["total"] / answer["audio"]

        sides = {"ours": speak} | {name: lambda name=name: theirs(name) for name in others}
        samples = alternate(sides, options.rounds)
    rtf = {side: median(values) for side, values in samples.items()}
    mine = rtf.pop("ours")
    target = "0.75 x or less" if precision == "float32" else "0.35 x or less"
    return Result(
        "rtf-kokoro", mine / min(rtf.values()),
        {"rtf": mine, "threads": options.threads, "precision": precision, "engine": type(ours).__name__},
        {name: {"rtf": value, "threads": options.threads} for name, value in rtf.items()},
        ("engine", "RTF", "times real time", "ours over it"),
        [(f"ours ({precision})", mine, 1 / mine, 1.0),
         *((name, value, 1 / value, mine / value) for name, value in rtf.items())],
        target, samples,
    )
