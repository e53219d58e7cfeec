"""A list of requests: `say --request-sequence` against one `say` a request and the model's official package.

Every text is spoken by all sides with one seed, voice and thread count. What both of ours wrote is transcribed, and must
be the same samples; the resident memory of the long-lived process is looked at all the while.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import soundfile

from benchmarks import kokoro, vits
from benchmarks.common import Result, median
from benchmarks.sentences import ENGLISH
from tests.listening import transcribe, word_error_rate
from tests.served import ROOT

ROUNDS = 12  # requests
MODELS = ("kokoro", "joe")
GROWTH = 64  # MB that the session may have grown by from the third request to the last


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="kokoro", choices=MODELS, help="default %(default)s")


def run(options: argparse.Namespace) -> Result:
    texts = [ENGLISH[number % len(ENGLISH)] for number in range(options.rounds)]
    voice = kokoro.voice() if options.model == "kokoro" else ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures, wall, memory = sequence(options.model, texts, voice, folder)
        processes = []
        for number, text in enumerate(texts):
            began = time.perf_counter()
            say("say", text, "--model", options.model, "--voice", voice, "--seed", "1", "--out", folder / f"alone-{number}.wav")
            processes.append(time.perf_counter() - began)
        same, errors = heard(texts, folder)
    with official(options.model) as peer:
        package = [peer.ask({"text": text})["total"] for text in texts]
    ours = [one["compute"] for one in figures]
    grown = memory[-1] - memory[min(2, len(memory) - 1)]
    if not same or grown > GROWTH:
        raise SystemExit(f"the same samples: {same}; memory grown by {grown:.0f} MB (at most {GROWTH})")
    rows = [(f"request {number}", mine * 1e3, one["ttfa"] * 1e3, list(one["caches"].values()).count("hit"),
             alone * 1e3, theirs * 1e3, resident)
            for number, (mine, one, alone, theirs, resident) in enumerate(
                zip(ours, figures, processes, package, memory, strict=True), 1)]
    first = [one["ttfa"] for one in figures]
    rows.append(("median", median(ours) * 1e3, median(first) * 1e3, "", median(processes) * 1e3, median(package) * 1e3,
                 median(memory)))
    return Result(
        "warm", median(ours) / median(processes),
        {"model": options.model, "request_s": median(ours), "ttfa_s": median(first), "wall_s": wall,
         "word_error_rate": errors["list"], "memory_mb": memory[-1], "memory_grown_mb": grown},
        {"process per request": {"request_s": median(processes), "wall_s": sum(processes), "word_error_rate": errors["alone"]},
         "official package": {"request_s": median(package)}},
        ("", "session, ms", "TTFA, ms", "cache hits", "new process, ms", "official package, ms", "session's memory, MB"), rows,
        "reported", {"session_s": ours, "process_s": processes, "package_s": package, "memory_mb": memory},
    )


def sequence(model: str, texts: list[str], voice: str, folder: Path) -> tuple[list[dict], float, list[float]]:
    """Every request's figures, the seconds of the whole process, and its resident MB after each request."""
    lines = [{"text": text, "voice": voice, "seed": 1, "out": str(folder / f"list-{number}.wav")}
             for number, text in enumerate(texts)]
    (folder / "list.json").write_text(json.dumps(lines))
    began, memory = time.perf_counter(), []
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "app.py"), "say", "--model", model, "--request-sequence", str(folder / "list.json"),
         "--metrics", str(folder / "figures.json")], stderr=subprocess.PIPE, text=True)
    about = psutil.Process(process.pid)
    for line in process.stderr:  # one a request
        if "first sound" in line:
            memory.append(about.memory_info().rss / 1e6)
    if process.wait():
        raise SystemExit(f"the list ended with {process.returncode}")
    found = json.loads((folder / "figures.json").read_text())["requests"]
    return found, time.perf_counter() - began, memory


def say(*arguments: object) -> None:
    subprocess.run([sys.executable, str(ROOT / "app.py"), *map(str, arguments)], check=True, capture_output=True)


def heard(texts: list[str], folder: Path) -> tuple[bool, dict[str, float]]:
    """Whether both wrote the same samples, and the mean word error rate of each."""
    errors, same = {"list": [], "alone": []}, True
    for number, text in enumerate(texts):
        sounds = {side: soundfile.read(folder / f"{side}-{number}.wav", dtype="float32") for side in errors}
        same &= np.array_equal(sounds["list"][0], sounds["alone"][0])
        for side, (samples, rate) in sounds.items():
            errors[side].append(word_error_rate(text, transcribe(samples, rate, "en")))
    return same, {side: sum(rates) / len(rates) for side, rates in errors.items()}


@contextmanager
def official(model: str):
    """piper-tts or the kokoro package, warm."""
    if model == "joe":
        with vits.piper(vits.specification(vits.default_threads())) as peer:
            yield peer
    else:
        parser = argparse.ArgumentParser()
        kokoro.arguments(parser)
        with kokoro.peers(parser.parse_args([])) as peers:
            yield peers["official"]
