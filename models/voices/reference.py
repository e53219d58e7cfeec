"""A recording becomes a reference clip: checked, trimmed, made equally loud, and reported on."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from models.audio.activity import phrases
from models.audio.decode import Decoded, decode
from models.audio.encode import on_grid
from models.audio.loudness import normalise, signal_to_noise
from models.errors import SpeechError
from models.voices import findings
from models.voices.clip import Clip
from models.voices.findings import Finding
from models.voices.speakers import count_speakers
from models.voices.transcribe import Heard, hear
from models.voices.transcript import LONGEST, MATCHES, part_between, spoken_part, token_error

MOST = 60.0  # seconds used
LEAST = 1.0  # seconds of speech needed
SILENT = 0.002  # peak; -54 dBFS
PAUSE, KEPT_PAUSE = 0.6, 0.3  # seconds: longer pauses than the first are shortened to the second
JOINT = 0.005  # seconds of fade where something was taken out
POINTS = 600  # of the outline a page draws
_checking = threading.BoundedSemaphore(2)  # ten minutes of sound take some 200 MB while they are read


@dataclass(frozen=True)
class Report:
    """seconds: the recording's length. kept: (start, end) in it that went into the clip. outline: its loudest sample in
    each of 600 equal stretches, for drawing. findings: what the figures mean; `worst` sums them up."""

    seconds: float
    speech_seconds: float
    speech_share: float
    clipping: float
    noise_db: float
    speakers: int
    kept: list[tuple[float, float]]
    outline: list[float]
    findings: list[Finding]

    @property
    def worst(self) -> str:
        levels = [finding.level for finding in self.findings]
        return next(level for level in (findings.POOR, findings.FAIR, findings.GOOD) if level in levels)


@dataclass(frozen=True)
class Reference:
    """clip: ready for any cloning model, its samples on the 16-bit grid so that a file gives them back exactly.
    language: as heard or given, "" before it was listened to. heard: None before."""

    clip: Clip
    report: Report
    language: str = ""
    heard: Heard | None = None

    @cached_property
    def matches(self) -> bool:
        """Whether the transcript is what is said. True while nothing is known of it."""
        return not any(finding.about == "transcript" and finding.level != findings.GOOD for finding in self.report.findings)


def check(data: bytes) -> Reference:
    """A file's bytes to a clip of at most 60 s without long silences at -23 LUFS; fast, and without its transcript.

    Raises SpeechError with a `clip_*` or `recording_*` code, saying what to do.
    """
    with _checking:
        decoded = decode(data)
        return _check(decoded)


def listen(reference: Reference, transcript: str = "", language: str = "") -> Reference:
    """The same with a transcript: what is heard, or the one given, cut to the part that the clip says and compared.

    Takes about a third of the clip's length on two cores. Raises SpeechError("weights_missing").
    """
    transcript = transcript.strip()
    if len(transcript) > LONGEST:
        raise SpeechError("field_invalid", "transcript", name="transcript",
                          expected={"en": f"at most {LONGEST} characters", "zh": f"最多 {LONGEST} 个字符"})
    clip = reference.clip
    tag = language.lower().replace("_", "-").split("-")[0]
    heard = hear(clip.samples, clip.sample_rate, tag if tag not in ("", "auto") else None)
    return _described(reference, heard, transcript or heard.text, cut=bool(transcript))


def crop(reference: Reference, start: float, end: float) -> Reference:
    """The part of the clip from `start` to `end` seconds (of the clip), with the part of the transcript it says.

    Raises SpeechError("clip_little_speech") when too little is left.
    """
    clip, rate = reference.clip, reference.clip.sample_rate
    samples = clip.samples[max(0, round(start * rate)):max(0, round(end * rate))]
    said = sum(stop - begin for begin, stop in phrases(samples, rate)) if len(samples) else 0.0
    if said < LEAST:
        raise SpeechError("clip_little_speech", "clip", seconds=f"{said:.1f}")
    kept = _inside(reference.report.kept, start, end)
    about = [findings.duration(said) if finding.about == "duration" else finding for finding in reference.report.findings]
    smaller = replace(reference, clip=Clip(samples, rate), report=replace(
        reference.report, kept=kept, speech_seconds=said, findings=about))
    if reference.heard is None:
        return smaller
    text = part_between(clip.transcript, reference.heard, start, end)
    words = [replace(word, start=word.start - start, end=word.end - start) for word in reference.heard.words
             if start <= (word.start + word.end) / 2 < end]
    heard = Heard("".join(word.text for word in words).strip(), reference.heard.language, words)
    return _described(smaller, heard, text, cut=False)


def _described(reference: Reference, heard: Heard, transcript: str, cut: bool) -> Reference:
    """With the transcript, and a finding on how well it fits. cut: it may be of a longer recording than the clip."""
    if cut and token_error(transcript, heard.text) > 0:
        transcript = spoken_part(transcript, heard) or transcript
    error = token_error(transcript, heard.text)
    about = [finding for finding in reference.report.findings if finding.about != "transcript"]
    about.append(findings.transcript(error, error <= MATCHES))
    return Reference(replace(reference.clip, transcript=transcript), replace(reference.report, findings=about),
                     heard.language, heard)


def _check(decoded: Decoded) -> Reference:
    samples, rate = decoded.samples, decoded.sample_rate
    if float(np.abs(samples).max()) < SILENT:
        raise SpeechError("clip_silent", "clip")
    spoken = phrases(samples, rate)
    said = sum(end - start for start, end in spoken)
    if said < LEAST:
        if decoded.broken:
            raise SpeechError("clip_broken", "clip")
        raise SpeechError("clip_little_speech", "clip", seconds=f"{said:.1f}") if said else SpeechError("clip_no_speech", "clip")
    kept, whole = choose(spoken, samples, rate)
    clip = on_grid(normalise(_join(samples, rate, kept), rate))
    used = sum(min(end, stop) - max(start, begin) for begin, stop in kept for start, end in spoken
               if min(end, stop) > max(start, begin))
    noise, count = signal_to_noise(samples, rate, spoken), count_speakers(clip, rate)
    share = said / decoded.seconds
    about = [findings.duration(used), findings.pauses(share), findings.clipping(decoded.clipped), findings.noise(noise),
             findings.speakers(count)]
    if not whole:
        about.append(findings.cut(used, MOST))
    if decoded.file_rate < 16_000:
        about.append(findings.telephone(decoded.file_rate))
    if decoded.broken:
        about.append(findings.damaged())
    report = Report(decoded.seconds, used, share, decoded.clipped, noise, count, kept, _outline(samples), about)
    return Reference(Clip(clip, rate), report)


def choose(spoken: Sequence[tuple[float, float]], samples: np.ndarray, rate: int) -> tuple[list[tuple[float, float]], bool]:
    """Stretches of the recording to keep, at most 60 s in all and cut at a pause, and whether that is all of the speech."""
    kept: list[tuple[float, float]] = []
    total = 0.0
    for start, end in spoken:
        if kept and start - kept[-1][1] <= PAUSE:
            longer = end - kept[-1][1]
            if total + longer <= MOST:
                kept[-1] = (kept[-1][0], end)
                total += longer
                continue
        else:
            start = max(kept[-1][1] if kept else 0.0, start - KEPT_PAUSE / 2)
            stop = min(len(samples) / rate, end + KEPT_PAUSE / 2)
            if total + stop - start <= MOST:
                kept.append((start, stop))
                total += stop - start
                continue
        if not kept:  # a minute without a pause: where it is quietest near the limit
            kept.append((start, _quietest(samples, rate, start + MOST - 2, start + MOST)))
        return kept, False
    return kept, True


def _quietest(samples: np.ndarray, rate: int, start: float, end: float) -> float:
    size = round(0.02 * rate)
    stretch = samples[round(start * rate):round(end * rate)]
    frames = np.square(stretch[:len(stretch) // size * size].reshape(-1, size)).mean(1)
    return start + (int(frames.argmin()) + 0.5) * size / rate


def _join(samples: np.ndarray, rate: int, kept: Sequence[tuple[float, float]]) -> np.ndarray:
    pieces = []
    for start, end in kept:
        piece = samples[round(start * rate):round(end * rate)].copy()
        fade = np.linspace(0, 1, min(len(piece), round(JOINT * rate)), dtype=np.float32)
        piece[:len(fade)] *= fade
        piece[len(piece) - len(fade):] *= fade[::-1]
        pieces.append(piece)
    return np.concatenate(pieces)


def _inside(kept: Sequence[tuple[float, float]], start: float, end: float) -> list[tuple[float, float]]:
    """The stretches of the recording that lie behind a part of the clip."""
    found, before = [], 0.0
    for begin, stop in kept:
        length = stop - begin
        low, high = max(0.0, start - before), min(length, end - before)
        if high > low:
            found.append((begin + low, begin + high))
        before += length
    return found


def _outline(samples: np.ndarray) -> list[float]:
    edges = np.linspace(0, len(samples), min(POINTS, len(samples)) + 1).astype(int)[:-1]
    return [round(float(value), 4) for value in np.maximum.reduceat(np.abs(samples), edges)]
