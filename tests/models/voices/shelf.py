"""What the tests of saved voices put there, and how one is refused."""
from __future__ import annotations

import numpy as np
import pytest
import torch

from models.audio.encode import on_grid
from models.errors import SpeechError
from models.voices.clip import Clip


def a_clip(seed: int = 0, seconds: float = 0.5, transcript: str = "Hello there.") -> Clip:
    noise = np.random.default_rng(seed).normal(size=round(seconds * 24_000)) * 0.1
    return Clip(on_grid(noise.astype(np.float32)), 24_000, transcript)


STATE = {"style": torch.arange(12.0).reshape(3, 4), "length": torch.tensor(7)}


def refusal(call) -> tuple[str, str | None]:
    with pytest.raises(SpeechError) as caught:
        call()
    return caught.value.code, caught.value.field
