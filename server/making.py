"""What is done to a recording on its way to a voice, each on a thread of somebody's: the imports may take their time."""
from __future__ import annotations

from typing import TYPE_CHECKING

from models.audio.encode import synthetic_note, to_wav
from models.errors import SpeechError
from models.memory import free_bytes
from models.voices.clip import Clip
from server.workbench import Work

if TYPE_CHECKING:  # they bring torch
    from models.voices.fit import First, Fitted
    from models.voices.reference import Reference

ROOM = 2 << 30  # bytes that must be free for anything to be loaded that nobody has asked for yet
LANGUAGE = {"en": "a language tag such as en, zh or ja", "zh": "语言代码，例如 en、zh、ja"}


def get_ready() -> None:
    """For what follows to begin at once, unless memory is short: then it is left to the first clip.

    Raises SpeechError("weights_missing").
    """
    from models.voices import tools

    if free_bytes() > ROOM:
        tools.load()


def check(data: bytes) -> Reference:
    """Raises SpeechError for a recording that is no good."""
    from models.voices import reference

    return reference.check(data)


def language_of(tag: str) -> str:
    """What Whisper calls the language of a tag such as en-GB; "" to have it found. Its first call imports a large library.
    Raises SpeechError("field_invalid")."""
    from models.voices.transcribe import languages

    primary = tag.lower().replace("_", "-").split("-")[0]
    if primary in ("", "auto"):
        return ""
    if primary not in languages():
        raise SpeechError("field_invalid", "language", name="language", expected=LANGUAGE)
    return primary


def listen(reference: Reference, transcript: str, tag: str) -> Reference:
    """transcript, tag: "" to have them found. Raises SpeechError("field_invalid") for a tag that is no language."""
    from models.voices.reference import listen

    return listen(reference, transcript, language_of(tag))


def first(clip: Clip, work: Work) -> First:
    """The nearest blend of stock voices."""
    from models.voices import fit

    return fit.first(clip, lambda line: _not_stopped(work))


def fitted(clip: Clip, work: Work) -> Fitted:
    """The voice made more alike, step by step, until `work` is to stop."""
    from models.voices.fit import Progress, fit

    def watch(progress: Progress) -> None:
        work.progress = progress

    return fit(clip, watch, work.stop, progress=lambda line: _not_stopped(work))


def sample(fitted: Fitted) -> bytes:
    """A sentence in that voice, as WAV."""
    from models.voices import fit

    return to_wav(*fit.sample(fitted.table), synthetic_note("of a clip that was not saved"))


def _not_stopped(work: Work) -> None:
    """Ends a minute of preparing, which asks nothing but tells how far it is."""
    if work.stop.is_set():
        raise SpeechError("cancelled")
