"""vits: word error of utterances with a lead against the same ones read whole (which equals the voice's own graph).

Every English sentence of the benchmarks that is long enough for a lead, with three seeds; Whisper base writes them
down.
"""
from __future__ import annotations

import argparse

import numpy as np

from benchmarks.cases.quality_kokoro import plain
from benchmarks.cases.seams import loaded
from benchmarks.common import Result
from benchmarks.sentences import DICTATION, LONG
from models.families.vits.frames import lead
from models.families.vits.frontend import phoneme_ids
from models.families.vits.network import Scales
from models.text import Run, Segment

ROUNDS = 1
SEEDS = 3


def run(options: argparse.Namespace) -> Result:
    import jiwer

    from models.voices.transcribe import hear

    network, voice = loaded()
    scales = Scales(voice.noise_scale, voice.length_scale, voice.noise_w)
    wanted, heard = [], {"led": [], "whole": []}
    for text in dict.fromkeys([*DICTATION["en"], *LONG]):
        ids = phoneme_ids(Segment(0, text, 0, len(text), (Run(text, voice.tag),)), voice)
        found = lead(ids, voice.space, scales.length)
        for seed in range(SEEDS) if found else ():
            wanted.append(plain(text, "en"))
            for side, which in (("led", found), ("whole", None)):
                rng = np.random.default_rng(seed)
                samples = np.concatenate(list(network.speak(ids, scales, None, rng, lead=which)))
                heard[side].append(plain(hear(samples, voice.sample_rate, "en", timed=False).text, "en") or " ")
    errors = {side: 100 * jiwer.wer(wanted, lines) for side, lines in heard.items()}
    return Result("quality-vits", None, {"error_percent": errors["led"]}, {"whole": {"error_percent": errors["whole"]}},
                  ("word error in %", "with a lead", "read whole"), [(f"{len(wanted)} utterances", *errors.values())],
                  "within 0.5 points", {side: lines for side, lines in heard.items()})
