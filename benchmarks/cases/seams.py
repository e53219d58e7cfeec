"""Pitch where a vits utterance's lead meets the rest of it, against the same place in the utterance read whole.

Both are spoken with one seed. What counts is the median pitch of the 150 voiced ms before the seam and of those behind
it, in semitones over the speaker's middle: a seam that sounded like an end, or like two takes put together, would lie
below the whole, or step where the whole doesn't.
"""
from __future__ import annotations

import argparse

import numpy as np

from benchmarks.common import Result, median
from benchmarks.pitch import around, middle
from benchmarks.sentences import LONG
from benchmarks.vits import specification
from models.families import family
from models.families.vits.engine import default_threads
from models.families.vits.frames import Lead, lead
from models.families.vits.frontend import phoneme_ids
from models.families.vits.network import Network, Scales
from models.families.vits.piper import PiperVoice, find_voices
from models.families.vits.prepare import prepare
from models.text import Run, Segment

ROUNDS = 1


def run(options: argparse.Namespace) -> Result:
    network, voice = loaded()
    taken = [one for seed, text in enumerate(LONG) if (one := seam(network, voice, text, seed))]
    above = {place: [one["led"][place] - one["whole"][place] for one in taken] for place in (0, 1)}
    steps = {kind: [one[kind][1] - one[kind][0] for one in taken] for kind in ("led", "whole")}
    rows = [("before the seam, over the whole", _median(above[0])), ("behind it, over the whole", _median(above[1])),
            ("step, with a lead", _median(steps["led"])), ("step, read whole", _median(steps["whole"])),
            ("seconds longer up to the seam", median([one["longer"] for one in taken]))]
    return Result("seams", None, dict(rows) | {"sentences": len(taken)}, {}, ("semitones, medians", "joe"), rows,
                  "at most 1 semitone below the whole before the seam", {"sentences": taken})


def loaded() -> tuple[Network, PiperVoice]:
    """The default voice."""
    spec = specification(default_threads())
    voice = find_voices(family("vits").fetch(spec, print), spec.id)[0]
    return Network(*prepare(voice, spec.id, print), default_threads()), voice


def seam(network: Network, voice: PiperVoice, text: str, seed: int) -> dict | None:
    """What is measured of one sentence; None when it is too short for a lead."""
    scales = Scales(voice.noise_scale, voice.length_scale, voice.noise_w)
    ids = phoneme_ids(Segment(0, text, 0, len(text), (Run(text, voice.tag),)), voice)
    found = lead(ids, voice.space, scales.length)
    if found is None:
        return None
    rate = voice.sample_rate
    whole = Lead(found.kept, len(ids))  # the same seam, in what is read to its end
    sound = {kind: np.concatenate(list(network.speak(ids, scales, None, np.random.default_rng(seed), lead=which)))
             for kind, which in (("led", found), ("whole", whole))}
    base = middle(sound["whole"], rate)
    at = {kind: network.frames(ids, scales, None, np.random.default_rng(seed), which).settled * network.hop / rate
          for kind, which in (("led", found), ("whole", whole))}
    return {"text": text, "longer": at["led"] - at["whole"],
            **{kind: around(sound[kind], rate, base, at[kind]) for kind in at}}


def _median(values: list[float]) -> float:
    return float(np.nanmedian(values))
