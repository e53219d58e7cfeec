"""The text front end: language runs, splitting, normalisation, phonemes."""
from models.text.segment import Run, Segment

__all__ = ["Run", "Segment"]
