"""The text front end: language runs, splitting, normalisation, phonemes. Importing it loads nothing heavy."""
from __future__ import annotations

from models.text.language import warm_languages
from models.text.plan import plan_segments
from models.text.segment import Run, Segment
from models.text.spoken import spoken_form as normalise
from models.text.warming import warm

__all__ = ["Run", "Segment", "normalise", "plan_segments", "warm", "warm_languages"]
