"""The big families at full size (random weights): first sound, pace and memory, beside their official packages.

A checkpoint of the published size, made once below READYVOICE_HOME/benchmarks, costs the same a token as the real one;
what it says is noise. Each side has a process of its own, so that memory is its own: our session; the package called as
its documentation does, its model kept (warm); and the package from the start of a process to the first sound (cold), as
a script that is run for every sentence would have it. A cloned voice is measured when its clip is new and when it is known.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from benchmarks.common import Result, median, timed
from benchmarks.full_size import SIZES, checkpoint

ROUNDS = 7
MEASURED = ("voxcpm-0.5b", "voxcpm-1.5", "pocket")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", nargs="*", default=MEASURED, choices=MEASURED)
    parser.add_argument("--seconds", type=float, default=1.5, help="sound each measurement makes after the first chunk")
    parser.add_argument("--clip-seconds", type=float, default=6.0, help="length of the voice's clip")
    parser.add_argument("--cold", type=int, default=3, help="starts of the package that are measured (default %(default)s)")


def run(options: argparse.Namespace) -> Result:
    rows, ours, peers, samples = [], {}, {}, {}
    for name in options.sizes:
        settings = {"family": SIZES[name], "folder": str(checkpoint(name)), "rounds": options.rounds,
                    "seconds": options.seconds, "clip_seconds": options.clip_seconds}
        mine, theirs = (_side({**settings, "side": side}) for side in ("ours", "package"))
        cold = [timed(lambda: _side({**settings, "side": "package", "rounds": 1, "seconds": 0, "clip_seconds": 3.0}))
                for _ in range(options.cold)]
        samples[name] = {"ours": mine, "package": theirs, "cold_s": cold}
        ours[name] = _figures(mine)
        peers[name] = {**_figures(theirs), "cold_ttfa_ms": 1e3 * median(cold) if cold else None}
        for kind in ("plain", "uncached", "cached"):
            mine_, theirs_ = ours[name].get(f"{kind}_ttfa_ms"), peers[name].get(f"{kind}_ttfa_ms")
            rows.append((f"{name}, {dict(plain='no clip', uncached='new clip', cached='known clip')[kind]}", mine_,
                         ours[name][f"{kind}_rtf"], theirs_ or "-", peers[name].get(f"{kind}_rtf") or "-",
                         mine_ / theirs_ if theirs_ else "-"))
        rows.append((f"{name}, memory MB", mine["memory_mb"], "-", theirs["memory_mb"], "-",
                     mine["memory_mb"] / theirs["memory_mb"]))
        rows.append((f"{name}, cold start to first sound", "-", "-", peers[name]["cold_ttfa_ms"] or "-", "-",
                     ours[name]["cached_ttfa_ms"] / peers[name]["cold_ttfa_ms"] if cold else "-"))
    ratio = max(ours[name]["cached_ttfa_ms"] / peers[name]["cached_ttfa_ms"] for name in options.sizes)
    return Result("families", ratio, ours, peers, ("", "ours: TTFA ms", "RTF", "package: TTFA ms", "RTF", "ratio"), rows,
                  "reported", samples)


def _figures(side: dict[str, Any]) -> dict[str, float]:
    figures = {"memory_mb": side["memory_mb"], "load_s": side["load_s"]}
    for kind in ("plain", "uncached", "cached"):
        if pairs := side.get(kind):
            figures[f"{kind}_ttfa_ms"] = 1e3 * median([first for first, _ in pairs])
            figures[f"{kind}_rtf"] = median([rtf for _, rtf in pairs if rtf is not None] or [float("nan")])
    return figures


def _side(settings: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.families", json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{settings['family']}, {settings['side']}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])
