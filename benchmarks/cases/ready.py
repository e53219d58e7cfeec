"""From the start of app.py to /readyz 200 with the default fleet warm, and the memory it holds then."""
from __future__ import annotations

import argparse

import psutil

from benchmarks.common import Result, median, timed
from tests.served import serve

ROUNDS = 5
TARGET = "at most 12 s and 1.5 GB"


def run(options: argparse.Namespace) -> Result:
    with serve():  # whatever is fetched or compiled once is there afterwards
        pass
    seconds, memory = [], []
    for _ in range(options.rounds):
        entered = serve()
        held = []
        seconds.append(timed(lambda: held.append(entered.__enter__())))
        try:
            process = psutil.Process(held[0].pid)
            memory.append(sum(one.memory_info().rss for one in [process, *process.children(recursive=True)]) / 1e9)
        finally:
            entered.__exit__(None, None, None)
    ours = {"ready_s": median(seconds), "resident_gb": median(memory)}
    return Result("ready", None, ours, {}, ("figure", "median", "lowest", "highest"),
                  [("start to ready, s", ours["ready_s"], min(seconds), max(seconds)),
                   ("resident memory, GB", ours["resident_gb"], min(memory), max(memory))],
                  TARGET, {"ready_s": seconds, "resident_gb": memory})
