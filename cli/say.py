"""`say`: speak one text into a WAV file, loading only the model it needs."""
from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from cli.controls import parsed
from cli.fleet import check_device, fetch_weights
from cli.progress import Steps
from models.audio.encode import synthetic_note, to_wav
from models.audio.watermark import marked, wanted
from models.config import Config
from models.errors import SpeechError
from models.events import SpeechRequest
from models.session import Session, Speech
from models.voices.clip import Clip
from models.voices.library import Library
from models.voices.record import SavedVoice
from models.voices.saved import PREFIX


def say(config: Config, text: str, voice: str, language: str, speed: float, seed: int | None, options: Sequence[str],
        out: Path) -> int:
    """options: the model's own controls as NAME=VALUE. Returns the exit status; the file is complete or not there."""
    if not 0.5 <= speed <= 2.0:
        raise SpeechError("field_invalid", "speed", name="--speed", expected={"en": "from 0.5 to 2", "zh": "0.5 到 2"})
    if not out.parent.is_dir():
        raise SpeechError("folder_missing", "out", path=out.parent)
    controls = parsed(options, config.models[0])
    steps = Steps(quiet=True)
    fetch_weights(config, steps)
    check_device(config, steps)
    session = Session(config.models[0], warm=False)  # one text: warming would only come on top
    try:
        session.start()
        session.wait_ready()
        cloned = cloned_voice(session, voice)
        voice, clip = sounding(session, voice, cloned)
        began = time.monotonic()
        speech = session.run(SpeechRequest(text, session.spec.id, voice, language, speed, seed,
                                           controls, clip))
        write_speech(speech, out, cloned.name if cloned else "", config.server.watermark)
        figures = speech.metrics
        print(f"{out}: {figures.audio_seconds:.2f} s of speech by {figures.model}/{cloned.name if cloned else figures.voice} in "
              f"{time.monotonic() - began:.2f} s (first sound {figures.ttfa * 1000:.0f} ms, "
              f"{figures.rtf:.2f}x real time)", file=sys.stderr)
    finally:
        session.close()
    return 0


def write_speech(speech: Speech, out: Path, cloned: str, watermark: str) -> None:
    """A WAV file, complete or not there. cloned: the name of the saved voice it is spoken in, "" for a stock one.
    watermark: which sound carries one, as the configuration says."""
    samples = speech.samples
    if wanted(watermark, cloned):
        samples = marked(samples, speech.sample_rate)
    partial = out.with_name(f".{out.name}.part")
    partial.write_bytes(to_wav(samples, speech.sample_rate, synthetic_note(cloned) if cloned else ""))
    partial.replace(out)


def sounding(session: Session, voice: str, cloned: SavedVoice | None) -> tuple[str, Clip | None]:
    """The voice and the clip of a request in the saved voice `cloned`, or in `voice` where there is none."""
    if cloned is None:
        return voice, None
    if session.saved_voices == "clip":
        return "", Library().clip(cloned.id, None)
    return f"{PREFIX}{cloned.id}", None


def cloned_voice(session: Session, name: str) -> SavedVoice | None:
    """The saved voice of that name, where the model speaks in saved voices and has none of its own so called."""
    if not session.saved_voices or not name or name in (voice.id for voice in session.model.voices()):
        return None
    try:
        return Library().named(name, None)
    except SpeechError:
        return None
