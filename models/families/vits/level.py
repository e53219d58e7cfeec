"""How loud a voice is: Piper voices differ by 10 dB, and a stream can't wait for its loudest sample to be scaled by it.

So each voice is measured once on a fixed text, and the factor found is kept beside its stages.
"""
from __future__ import annotations

from pathlib import Path

import numpy as np

from models.families.vits.frontend import phoneme_ids
from models.families.vits.network import Network, Scales
from models.families.vits.piper import PiperVoice
from models.text.segment import Run, Segment

LOUDNESS, PEAK = 0.1, 0.8  # RMS of speech and the largest sample, of full scale
TEXT = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10."  # words in every language


def level(folder: Path, network: Network, voice: PiperVoice) -> float:
    """What to multiply the voice's samples by."""
    file = folder / "level.txt"
    try:
        return float(file.read_text("utf-8"))
    except (OSError, ValueError):
        factor = _measure(network, voice)
        file.write_text(f"{factor:.4f}\n", "utf-8")
        return round(factor, 4)


def _measure(network: Network, voice: PiperVoice) -> float:
    ids = phoneme_ids(Segment(0, TEXT, 0, len(TEXT), (Run(TEXT, voice.tag),)), voice)
    if not ids:
        return 1.0
    speaker = min(voice.speakers.values(), default=None)
    scales = Scales(voice.noise_scale, voice.length_scale, voice.noise_w)
    samples = np.concatenate(list(network.speak(ids, scales, speaker, np.random.default_rng(0))))
    speech = samples[np.abs(samples) > 0.05 * np.abs(samples).max(initial=0.0)]
    if not speech.size:
        return 1.0
    return float(min(LOUDNESS / np.sqrt(np.mean(speech**2)), PEAK / np.abs(speech).max()))
