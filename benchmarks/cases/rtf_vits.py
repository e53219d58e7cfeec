"""vits: compute time over audio time on the same phonemes, our stages against piper-tts's whole graph.

Both speak the same ids of 12 sentences, whole sentences, ours window by window as it does in a session. Durations are
drawn at random on both sides, hence seconds of compute per second of audio.
"""
from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.common import Result, alternate, median
from benchmarks.sentences import ENGLISH
from benchmarks.vits import arguments, piper, specification
from models.families import family
from models.families.vits.frames import lead
from models.families.vits.frontend import phoneme_ids
from models.families.vits.network import Network, Scales
from models.families.vits.piper import find_voices
from models.families.vits.prepare import prepare
from models.text import Run, Segment

__all__ = ["arguments", "run"]


def run(options: argparse.Namespace) -> Result:
    spec = specification(options.threads)
    voice = find_voices(family("vits").fetch(spec, print), spec.id)[0]
    folder, layout = prepare(voice, spec.id, print)
    network = Network(folder, layout, options.threads)
    scales = Scales(voice.noise_scale, voice.length_scale, voice.noise_w)
    ids = [phoneme_ids(Segment(0, text, 0, len(text), (Run(text, voice.tag),)), voice) for text in ENGLISH]
    leads = [lead(line, voice.space, scales.length) for line in ids]  # as a session does
    rng = np.random.default_rng(0)

    def ours() -> float:
        began, samples = time.perf_counter(), 0
        for number, line in enumerate(ids):
            samples += sum(chunk.size for chunk in network.speak(line, scales, None, rng, lead=leads[number]))
        return (time.perf_counter() - began) / (samples / voice.sample_rate)

    with piper(spec) as peer:
        def theirs() -> float:
            answer = peer.ask({"ids": ids})
            return answer["total"] / answer["audio"]

        samples = alternate({"ours": ours, "piper-tts": theirs}, options.rounds)
    mine, other = median(samples["ours"]), median(samples["piper-tts"])
    return Result(
        "rtf-vits", mine / other, {"rtf": mine, "threads": options.threads},
        {"piper-tts": {"rtf": other, "threads": options.threads}},
        ("engine", "RTF", "times real time"),
        [("ours", mine, 1 / mine), ("piper-tts", other, 1 / other)], "0.8 x or less", samples,
    )
