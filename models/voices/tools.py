"""What clips are checked and heard with: had on the machine, and in memory before the first clip comes."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.voices import encoder_weights, transcribe


def fetch(progress: Callable[[str], None] = lambda line: None) -> None:
    """Have the weights here; loads nothing. Raises SpeechError("weights_missing")."""
    transcribe.fetch(progress)
    encoder_weights.fetch(progress)


def load() -> None:
    """Fetch and load them all, about two seconds and 800 MB with torch. Raises SpeechError("weights_missing")."""
    from models.audio.activity import phrases
    from models.audio.decode import decode
    from models.audio.encode import to_wav
    from models.audio.loudness import normalise
    from models.voices.speakers import count_speakers

    rate = 22_050  # resampled wherever a real one is
    hiss = np.random.default_rng(0).standard_normal(3 * rate, np.float32) * 0.05
    sound = decode(to_wav(hiss, rate)).samples
    phrases(sound, rate)
    normalise(sound, rate)
    count_speakers(sound, rate)
    transcribe.load()
