"""kokoro: word and character error of the fast path against the exact float32 path, and their log-mel distance.

60 sentences in English, Chinese and Japanese, same phonemes, voice and noise on both sides; Whisper base writes them
down. There is no peer: the exact path is torch in float32, proven against the official package by the tests.
"""
from __future__ import annotations

import argparse
import unicodedata

import numpy as np
import torch

from benchmarks.common import Result
from benchmarks.kokoro import arguments, specification
from benchmarks.sentences import DICTATION
from models.families import family
from models.families.kokoro import catalogue, device, engine, phonemes, voices, weights
from models.families.kokoro.constants import SAMPLE_RATE
from models.families.kokoro.torch_engine import TorchEngine
from models.text import Run
from models.text.phonemes import kokoro_runs

__all__ = ["arguments", "run"]
ROUNDS = 1
MELS, WINDOW, HOP = 80, 1024, 256


def run(options: argparse.Namespace) -> Result:
    import jiwer

    from models.voices.transcribe import hear

    spec = specification(options)
    file = weights.model_file(family("kokoro").fetch(spec, print))
    sides = {"fast": engine.load(file, *device.choose(spec.device, spec.precision), print),
             "exact": TorchEngine.load(file, "cpu", "float32")}
    stock = voices.stock(weights.folder() / weights.VOICES_FILE)
    rows, errors, distances, changed = [], {}, [], 0
    for language, texts in DICTATION.items():
        style = stock[catalogue.default_voice(catalogue.arranged(stock), language)]()
        heard: dict[str, list[str]] = {side: [] for side in sides}
        for number, text in enumerate(texts):
            ids = phonemes.ids(kokoro_runs([Run(text, language)]), phonemes.VOCABULARY)
            boxed = [phonemes.BOUNDARY, *ids, phonemes.BOUNDARY]
            spoken = {side: speaker.speak(boxed, style[len(ids) - 1], 1.0, engine.Noise(number))
                      for side, speaker in sides.items()}
            if np.array_equal(spoken["fast"][1], spoken["exact"][1]):
                distances.append(log_mel_distance(*(torch.from_numpy(spoken[side][0]) for side in ("fast", "exact"))))
            else:
                changed += 1
            for side, (samples, _) in spoken.items():
                heard[side].append(plain(hear(samples, SAMPLE_RATE, language, timed=False).text, language))
        count = jiwer.wer if language == "en" else jiwer.cer
        wanted = [plain(text, language) for text in texts]
        for side in sides:
            errors[side, language] = 100 * count(wanted, [line or " " for line in heard[side]])
        rows.append((f"{language} ({len(texts)} sentences)", errors["fast", language], errors["exact", language]))
    total = sum(map(len, DICTATION.values()))
    fast, exact = (
        sum(errors[side, language] * len(texts) for language, texts in DICTATION.items()) / total for side in sides
    )
    distance = sum(distances) / len(distances)
    rows += [("all", fast, exact),
             (f"log-mel distance, dB ({len(distances)} of {total} with equal durations)", distance, 0.0)]
    return Result(
        "quality-kokoro", None, {"error_percent": fast, "log_mel_db": distance, "durations_changed": changed},
        {"exact": {"error_percent": exact}}, ("error in %, words (en) or characters", "fast", "exact"), rows,
        "within 0.5 points", {"log_mel_db": distances},
    )


def log_mel_distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """Mean absolute difference in dB over mel bands and frames that are not silent in `other`."""
    first, second = (log_mel(samples) for samples in (one, other))
    loud = second > second.max() - 60
    return float((first - second).abs()[loud].mean())


def log_mel(samples: torch.Tensor) -> torch.Tensor:
    power = torch.stft(samples, WINDOW, HOP, window=torch.hann_window(WINDOW), return_complex=True).abs().square()
    return 10 * torch.log10(mel_filters() @ power + 1e-10)


def mel_filters() -> torch.Tensor:
    """Triangles of equal width in mel (O'Shaughnessy), [MELS, WINDOW // 2 + 1]."""
    top = 2595 * torch.log10(torch.tensor(1 + SAMPLE_RATE / 2 / 700))
    edges = 700 * (10 ** (torch.linspace(0, 1, MELS + 2) * top / 2595) - 1)
    bins = torch.linspace(0, SAMPLE_RATE / 2, WINDOW // 2 + 1)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp(min=0)


def plain(text: str, language: str) -> str:
    """Lower case, no punctuation; no spaces where words are written without."""
    kept = (char if unicodedata.category(char)[0] in "LNM" else " " if char in " -" else ""
            for char in unicodedata.normalize("NFKC", text).casefold())
    return (" " if language == "en" else "").join("".join(kept).split())
