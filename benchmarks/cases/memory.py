"""300 requests of mixed length: resident memory at the end against that after the first 30."""
from __future__ import annotations

import argparse
import random

import psutil

from benchmarks.client import listen
from benchmarks.common import Result
from tests.served import serve

ROUNDS = 1
WORDS = "the sea was calm and the small boat went slowly past the old stone harbour where nobody had worked for years".split()


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--models", nargs="*", default=["kokoro", "joe"])


def run(options: argparse.Namespace) -> Result:
    chance = random.Random(1)
    taken = []
    with serve() as served:
        process = psutil.Process(served.pid)
        for number in range(options.requests):
            text = " ".join(chance.choices(WORDS, k=chance.randint(2, 60))).capitalize() + "."
            heard = listen(served, text=text, model=options.models[number % len(options.models)])
            if heard.error:
                raise RuntimeError(heard.error)
            taken.append(process.memory_info().rss / 1e6)
    ratio = taken[-1] / taken[29]
    rows = [(f"after {n}", taken[n - 1], taken[n - 1] / taken[29]) for n in (1, 10, 30, 60, 100, 150, 200, 250, 300)
            if n <= options.requests]
    return Result("memory", ratio, {"after_30_mb": taken[29], "end_mb": taken[-1]}, {}, ("requests", "resident, MB", "ratio to 30"),
                  rows, "at most 1.03 x", {"resident_mb": taken})
