"""A reference clip: what a cloning model hears of a voice."""
from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Clip:
    """samples: float32 mono in [-1, 1] at sample_rate Hz. transcript: the words spoken in it, "" when unknown."""

    samples: np.ndarray
    sample_rate: int
    transcript: str = ""

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate

    @cached_property
    def digest(self) -> str:
        """sha256 of the decoded samples, their rate and the transcript: the content part of every cache key."""
        hasher = hashlib.sha256(f"{self.sample_rate}\0{self.transcript}\0".encode())
        hasher.update(np.ascontiguousarray(self.samples, np.float32).tobytes())
        return hasher.hexdigest()
