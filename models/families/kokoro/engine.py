"""The two ways to run the network: our C++ on a CPU, torch everywhere else. Same weights, same noise, same answer."""
from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
from safetensors import SafetensorError

from models.errors import SpeechError
from models.families.kokoro import device, stored, weights
from models.families.kokoro.native import build
from models.families.kokoro.native.engine import NativeEngine
from models.gaps import Gap

BROKEN = (ValueError, OSError, RuntimeError, EOFError, AttributeError, KeyError, TypeError, pickle.UnpicklingError,
          SafetensorError)


class Noise:
    """White noise, float32 [n] at each call. A seed gives the same noise on every device; None never gives the same."""

    def __init__(self, seed: int | None):
        self._bits = np.random.Generator(np.random.SFC64(None if seed is None else seed % 2**64))

    def __call__(self, samples: int) -> np.ndarray:
        return self._bits.standard_normal(samples, np.float32)


class Engine(Protocol):
    """One utterance at a time, always from the same thread."""

    def speak(self, ids: list[int], style: np.ndarray, speed: float, noise: Noise,
              gap: Gap | None = None) -> tuple[np.ndarray, np.ndarray]:
        """ids: boundaries included; style float32 [256] -> float32 samples, and int64 durations in frames of 25 ms.
        gap: called between layers by an engine that can speak another utterance there."""

    def rest(self) -> None:
        """Give working memory back."""


def load(file: Path, where: str, precision: str, progress: Callable[[str], None]) -> Engine:
    """The best engine for a checkpoint file. where, precision: as `device.choose` names them.

    Raises SpeechError("weights_broken").
    """
    try:
        lib = build.library(progress) if where == "cpu" else None
        if lib is None or not (precision == "float32" or precision == "bfloat16" and lib.kokoro_narrow_kind()):
            from models.families.kokoro.torch_engine import TorchEngine

            return TorchEngine.load(file, where, precision)
        return NativeEngine(lib, _arrays(file), precision == "bfloat16", device.threads())
    except BROKEN as error:
        raise SpeechError("weights_broken", model="kokoro", path=file, reason=error, advice=weights.REMEDY) from error


def _arrays(file: Path) -> dict[str, np.ndarray]:
    """By the network's own names. Our own file was checked when it was made; others are read and checked by torch."""
    if file.parent == weights.folder():
        return stored.mapped(file)
    from models.families.kokoro.torch_engine import checked

    return {name: tensor.numpy() for name, tensor in checked(file).items()}
