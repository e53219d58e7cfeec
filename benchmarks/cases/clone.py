"""A voice fitted to a speaker whom no stock voice is: how alike it is on lines it was never fitted with.

The speaker is the Piper voice joe. Likeness is the cosine of speaker embeddings, which the fit itself drives; pitch,
its spread and the long-term spectrum tell the same by other measures (the last is not looked at by the fit). Words are
counted by Whisper base, in English, Chinese and Japanese, beside the stock voice that the same lines are said in.
"""
from __future__ import annotations

import argparse

import jiwer
import numpy as np

from benchmarks.cases.quality_kokoro import plain
from benchmarks.common import Result
from benchmarks.sentences import DICTATION, LONG
from benchmarks.vits import session, specification
from models.events import SpeechRequest
from models.families.kokoro import phonemes
from models.families.kokoro.constants import SAMPLE_RATE
from models.families.vits.engine import default_threads
from models.text import Run
from models.text.phonemes import kokoro_runs
from models.voices.clip import Clip
from models.voices.fit import SECONDS, fit, rehearsal
from models.voices.measure import traits
from models.voices.speaker import likeness, speaker_encoder
from models.voices.stock import stock

ROUNDS = 1
STOCK = "am_michael"
HELD_OUT = {language: texts[-8:] for language, texts in DICTATION.items()}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=SECONDS, help="a fit may take (default %(default)s)")


def run(options: argparse.Namespace) -> Result:
    with session(specification(default_threads())) as joe:
        speech = joe.run(SpeechRequest(" ".join(LONG[:3]), seed=1))
    clip = Clip(speech.samples, speech.sample_rate)
    fitted = fit(clip, seconds=options.seconds, progress=print)
    known = stock(rehearsal())
    target, wanted = speaker_encoder().embed(clip.samples, clip.sample_rate), traits(clip.samples, clip.sample_rate)
    rows, ours = [], {"own": fitted.own, "steps": fitted.steps, "seconds": fitted.seconds}
    for name, table in (("fitted", fitted.table), ("blend", known.mixed(fitted.blend)),
                        ("stock", known.tables[known.names.index(STOCK)])):
        said = {language: [rehearsal().speak(_ids(text, language), table) for text in texts]
                for language, texts in HELD_OUT.items()}
        sound = np.concatenate(said["en"])
        voice = traits(sound, SAMPLE_RATE)
        figures = {
            "likeness": likeness(speaker_encoder().embed(sound, SAMPLE_RATE), target),
            "semitones_off": voice.semitones_from(wanted), "spread_off": voice.spread - wanted.spread,
            "spectrum_db": voice.decibels_from(wanted),
            **{f"error_{language}": _error(sounds, HELD_OUT[language], language) for language, sounds in said.items()},
        }
        ours[name] = figures
        rows.append((name, *figures.values()))
    columns = ("voice", "likeness", "pitch off, semitones", "its spread off", "spectrum, dB",
               *(f"{language} error, %" for language in HELD_OUT))
    return Result("clone", None, ours, {}, columns, rows,
                  f"likeness 0.85 or more (the clip's own halves: {fitted.own:.2f}; {fitted.steps} steps in "
                  f"{fitted.seconds:.0f} s), words as well understood as the stock voice's", {"curve": fitted.curve})


def _ids(text: str, language: str) -> list[int]:
    return phonemes.ids(kokoro_runs([Run(text, language)]), phonemes.VOCABULARY)


def _error(sounds: list[np.ndarray], texts: tuple[str, ...], language: str) -> float:
    from models.voices.transcribe import hear

    heard = [plain(hear(sound, SAMPLE_RATE, language, timed=False).text, language) or " " for sound in sounds]
    return 100 * (jiwer.wer if language == "en" else jiwer.cer)([plain(text, language) for text in texts], heard)
