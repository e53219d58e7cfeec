"""A kokoro engine that says a few lines in whatever voice is tried: what fitting rehearses with.

An engine of its own, so that the session that speaks is neither slowed nor touched.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from models.families.kokoro import device, engine, phonemes, weights
from models.text.phonemes import kokoro


class Rehearsal:
    """lines: short English sentences. From any thread, one line at a time."""

    def __init__(self, lines: tuple[str, ...], path: Path | None = None,
                 progress: Callable[[str], None] = lambda line: None):
        self._turn = threading.Lock()
        folder = weights.fetch(path, progress)
        self._engine = engine.load(weights.model_file(folder), *device.choose("auto", "auto"), progress)
        vocabulary = phonemes.vocabulary(folder)
        self._ids = [phonemes.ids(kokoro(line, "en-us"), vocabulary) for line in lines]

    def __len__(self) -> int:
        return len(self._ids)

    def say(self, line: int, table: Tensor, seed: int = 0) -> np.ndarray:
        """One line in a voice [510, 256]: float32 samples at the family's rate."""
        return self.speak(self._ids[line], table, seed)

    def speak(self, ids: list[int], table: Tensor, seed: int = 0) -> np.ndarray:
        """Any phoneme ids, the same way."""
        style = table[len(ids) - 1].cpu().numpy()
        with self._turn, torch.inference_mode():
            return self._engine.speak([phonemes.BOUNDARY, *ids, phonemes.BOUNDARY], style, 1.0, engine.Noise(seed))[0]
