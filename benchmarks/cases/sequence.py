"""A list of requests through one long-lived session against a new process for each."""
from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import Result, median, timed
from models.config import load_config
from models.events import SpeechRequest
from models.session import Session
from tests.served import ROOT

ROUNDS = 7
TEXTS = [f"This is line {name} of the list, spoken by one voice." for name in
         ("one", "two", "three", "four", "five", "six", "seven", "eight")]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="kokoro", help="model id (default %(default)s)")


def run(options: argparse.Namespace) -> Result:
    session = Session(load_config(ROOT / "config.toml").only(options.model).models[0])
    session.start()
    session.wait_ready()
    figures, resident, processes = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            text = TEXTS[number % len(TEXTS)]
            resident.append(timed(lambda: figures.append(session.run(SpeechRequest(text, seed=1)).metrics)))
            command = [sys.executable, str(ROOT / "app.py"), "say", text, "--model", options.model, "--seed", "1",
                       "--out", str(Path(folder) / "line.wav")]
            processes.append(timed(lambda: subprocess.run(command, check=True, capture_output=True)))
    session.close()
    rows = [(f"request {n}", ours * 1000, one.ttfa * 1000, one.rtf, process * 1000)
            for n, (ours, one, process) in enumerate(zip(resident, figures, processes, strict=True), 1)]
    ratio = median(resident) / median(processes)
    rows.append(("median", median(resident) * 1000, median([f.ttfa for f in figures]) * 1000,
                 median([f.rtf for f in figures]), median(processes) * 1000))
    return Result("sequence", ratio, {"request_s": median(resident), "factor": 1 / ratio},
                  {"process per request": {"request_s": median(processes)}},
                  ("", "session, ms", "TTFA, ms", "RTF", "new process, ms"), rows, "reported",
                  {"session_s": resident, "process_s": processes})
