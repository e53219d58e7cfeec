"""No cut inside a sentence sounds like its end: the pitch there is as high as in the sentence spoken whole."""
from __future__ import annotations

import statistics

import numpy as np

from benchmarks.cases.joints import joint
from benchmarks.cases.seams import loaded, seam
from benchmarks.sentences import LONG
from models.config import load_config
from models.session import Session
from tests.served import ROOT


def test_pitch_does_not_fall_where_a_sentence_is_cut():
    session = Session(load_config(ROOT / "config.toml").only("kokoro").models[0])
    session.start()
    try:
        session.wait_ready()
        taken = session.ask(lambda model: [one for text in LONG[5:14:2] if (one := joint(model, text))])
    finally:
        session.close()
    assert len(taken) >= 3
    assert statistics.median(one["cut"] - one["whole"] for one in taken) > -1  # semitones


def test_pitch_neither_falls_nor_steps_where_a_lead_ends():
    """joe's sentences are not cut, but their beginnings are read before the rest."""
    network, voice = loaded()
    taken = [one for seed, text in enumerate(LONG) if (one := seam(network, voice, text, seed))]
    assert len(taken) >= 15
    assert np.nanmedian([one["led"][0] - one["whole"][0] for one in taken]) > -1  # semitones
    step = {kind: np.nanmedian([one[kind][1] - one[kind][0] for one in taken]) for kind in ("led", "whole")}
    assert abs(step["led"] - step["whole"]) < 1
