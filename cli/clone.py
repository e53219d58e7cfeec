"""`clone`: a recording becomes a saved voice that kokoro speaks in."""
from __future__ import annotations

import sys
from pathlib import Path

from cli.progress import Steps
from models.errors import SpeechError
from models.voices.library import Library
from models.voices.record import SavedVoice

OWNER = "operator"  # of voices made on the command line: private like any other, unless shared


def clone(name: str, clip: Path, transcript: str, language: str, consent: str, shared: bool = False,
          seconds: float = 120.0) -> int:
    """Check the clip, fit a voice to it for so many seconds at most and save both; the report goes to stdout. shared:
    everybody may speak in it. Returns the exit status."""
    if not consent.strip():
        raise SpeechError("consent_missing", "consent")
    data = clip.read_bytes()
    library = Library()
    if any(voice.name.casefold() == name.strip().casefold() for voice in library.list(OWNER) if voice.owner == OWNER):
        raise SpeechError("voice_name_taken", "name", name=name)  # better now than after two minutes
    fetch_tools(Steps(quiet=True))
    from models.voices.fit import Progress, fit
    from models.voices.reference import check, listen

    reference = check(data)
    for finding in reference.report.findings:
        print(f"{finding.level:>5}  {finding.sentence()}")
    reference = listen(reference, transcript, language)
    if not reference.matches:
        print(f" poor  {reference.report.findings[-1].sentence()}")
    print(f"       \"{reference.clip.transcript}\" ({reference.language})", flush=True)

    def watch(progress: Progress) -> None:
        end = "\n" if progress.step == progress.steps else ""
        print(f"\rfitting: step {progress.step} of {progress.steps}, {progress.seconds:.0f} s, likeness "
              f"{progress.likeness:.2f} (Ctrl-C keeps it as it is)", end=end, file=sys.stderr, flush=True)

    fitted = _until_stopped(fit, reference.clip, watch, seconds)
    saved: SavedVoice = library.save(reference.clip, name, OWNER, consent, language=reference.language,
                                     states={"kokoro": fitted.state()}, likeness=round(fitted.likeness, 3),
                                     shared=shared)
    blend = " + ".join(f"{share:.0%} {voice}" for voice, share in fitted.blend)
    print(f"likeness {fitted.likeness:.2f} (the clip's own halves {fitted.own:.2f}; the blend {fitted.blend_likeness:.2f}: {blend})")
    print(f"pitch {fitted.voice.pitch:.0f} Hz (clip {fitted.clip.pitch:.0f}), its spread {fitted.voice.spread:.1f} semitones "
          f"(clip {fitted.clip.spread:.1f}), spectrum {fitted.voice.decibels_from(fitted.clip):.1f} dB apart")
    print(f"saved as \"{saved.name}\": bash start.sh say \"text\" --voice \"{saved.name}\"")
    return 0


def fetch_tools(steps: Steps) -> None:
    """What checking and fitting a clip needs, on the machine: Whisper base, the speaker encoder, kokoro."""
    from models.families.kokoro import weights
    from models.voices import tools

    with steps.step(3, "tools for cloning (Whisper base MIT, Resemblyzer Apache-2.0)"):
        tools.fetch(lambda line: steps.line(3, line))
        weights.fetch(None, lambda line: steps.line(3, line))


def _until_stopped(fit, clip, watch, seconds):
    """Fit; the first Ctrl-C ends it with the best so far."""
    import signal
    import threading

    stop = threading.Event()
    before = signal.signal(signal.SIGINT, lambda number, frame: (stop.set(), signal.signal(signal.SIGINT, before)))
    try:
        return fit(clip, watch, stop, seconds, progress=lambda line: print(line, file=sys.stderr))
    finally:
        signal.signal(signal.SIGINT, before)
