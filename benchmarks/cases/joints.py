"""Pitch where a sentence is cut into segments, against the same place in the sentence spoken whole (vits: see `seams`).

Three renderings of each sentence with one seed: cut as the session cuts it, whole, and the first piece closed with a
full stop. What counts is the median pitch of the last voiced 150 ms before the joint, in semitones over the speaker's
middle; Whisper base says where the joint lies in the whole. A cut that sounded like an end would lie below the whole.
"""
from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from benchmarks.common import Result, median
from benchmarks.pitch import final, middle
from benchmarks.sentences import LONG
from models.config import load_config
from models.events import SpeechRequest
from models.families.protocol import Model, Plan, Turn
from models.session import Session
from models.text import Segment
from tests.served import ROOT

ROUNDS = 1
LOWER = 3.0  # semitones below the whole at which a cut counts as an end


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", nargs="*", default=["kokoro"], help="model ids of config.toml")


def run(options: argparse.Namespace) -> Result:
    rows, ours, samples = [], {}, {}
    for name in options.models:
        session = Session(load_config(ROOT / "config.toml").only(name).models[0])
        session.start()
        session.wait_ready()
        taken = session.ask(lambda model: [one for text in LONG if (one := joint(model, text))])
        session.close()
        samples[name] = taken
        for kind in ("clause", "word"):
            some = [one for one in taken if one["ends"] == kind]
            if some:
                above = [one["cut"] - one["whole"] for one in some]
                rows.append((f"{name}, cut at a {kind}", f"{len(some)} of {len(LONG)}",
                             *(median([one[key] for one in some]) for key in ("whole", "cut", "stop")), median(above),
                             sum(value < -LOWER for value in above)))
        above = [one["cut"] - one["whole"] for one in taken]
        ours[name] = {"cut": len(taken), "cut_minus_whole": median(above) if above else 0.0,
                      "lower_by_3": sum(value < -LOWER for value in above)}
    return Result("joints", None, ours, {}, ("semitones, medians", "sentences", "whole", "cut", "full stop",
                                             "cut - whole", f"lower by {LOWER:g}"), rows,
                  "a cut ends at most 1 semitone below the whole in the median", samples)


def joint(model: Model, text: str) -> dict | None:
    """What is measured of one sentence; None when it isn't cut."""
    from models.voices.transcribe import hear

    request = SpeechRequest(text, language="en", seed=1)
    plan = model.plan(request)
    if len(plan.segments) < 2:
        return None
    first, rate = plan.segments[0], model.sample_rate
    spoken = {name: speak(model, request, plan, segment) for name, segment in (
        ("cut", first), ("whole", saying(first, text)), ("stop", saying(first, first.text.rstrip(" ,;:—-") + ".")))}
    at = hear(spoken["whole"], rate, "en").words[len(first.text.split()) - 1].end
    base = middle(spoken["whole"], rate)
    return {"text": text, "ends": first.ends, "whole": final(spoken["whole"], rate, base, at),
            **{name: final(spoken[name], rate, base) for name in ("cut", "stop")}}


def saying(segment: Segment, text: str) -> Segment:
    return replace(segment, text=text, start=0, end=len(text), runs=(replace(segment.runs[0], text=text),), ends="sentence")


def speak(model: Model, request: SpeechRequest, plan: Plan, segment: Segment) -> np.ndarray:
    return np.concatenate(list(model.speak(segment, replace(plan, segments=[segment]), request, Turn())))
