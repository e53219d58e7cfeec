"""No cut inside a sentence sounds like its end: the pitch there is as high as in the sentence spoken whole."""
from __future__ import annotations

import statistics

import pytest

from benchmarks.cases.joints import joint
from benchmarks.sentences import LONG
from models.config import load_config
from models.session import Session
from tests.served import ROOT


@pytest.mark.parametrize("name", ["kokoro", "joe"])
def test_pitch_does_not_fall_where_a_sentence_is_cut(name):
    session = Session(load_config(ROOT / "config.toml").only(name).models[0])
    session.start()
    try:
        session.wait_ready()
        taken = session.ask(lambda model: [one for text in (LONG[5:14:2] if name == "kokoro" else LONG) if (one := joint(model, text))])
    finally:
        session.close()
    assert len(taken) >= 3
    assert statistics.median(one["cut"] - one["whole"] for one in taken) > -1  # semitones
