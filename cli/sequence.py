"""`say --request-sequence`: a list of requests through one session, a file each, with every request's figures."""
from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from cli.fleet import check_device, fetch_weights
from cli.progress import Steps
from cli.say import cloned_voice, sounding, write_speech
from models.config import Config
from models.errors import SpeechError
from models.events import SpeechRequest
from models.families import family
from models.families.options import checked_controls
from models.families.protocol import ModelSpec
from models.session import Session
from server import schema

WORDS = {"en": "some words", "zh": "一段文字"}
EXPECTED = schema.EXPECTED | dict.fromkeys(("id", "voice", "language", "out"), WORDS)


class Entry(BaseModel):
    """One request of the list. out: its WAV file, ID.wav if not given."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    id: str = Field("", max_length=200, pattern=r"^[^/\\\x00]*$")
    voice: str = ""
    language: str = "auto"
    speed: float = Field(1.0, ge=0.5, le=2.0, allow_inf_nan=False)
    seed: int | None = Field(None, ge=0, le=2**32 - 1)
    options: dict = {}
    out: str = ""


@dataclass(frozen=True)
class Line:
    """An entry with what was left out filled in."""

    entry: Entry
    id: str
    out: Path


def run_sequence(config: Config, source: Path, figures: Path | None) -> int:
    """Speak every request of `source` in order through one warm session of the configuration's only model.

    A request that fails is told and the next one is spoken. figures: a JSON file for all of their metrics, written also
    when the list is broken off. Returns 0 if all went well, else 1.
    """
    spec = config.models[0]
    lines = read(source, spec)
    if figures is not None:
        _folder(figures)
    steps = Steps(quiet=True)
    fetch_weights(config, steps)
    check_device(config, steps)
    session = Session(spec)
    reports: list[dict] = []
    try:
        session.start()
        session.wait_ready()
        for line in lines:
            reports.append(_speak(session, line, config.server.watermark))
    finally:
        if figures is not None:
            _write(figures, session, reports)
        session.close()
    return int(any(report["error"] for report in reports))


def read(source: Path, spec: ModelSpec) -> list[Line]:
    """The requests in a file: a JSON list of objects, or an object whose "requests" is one. Raises SpeechError
    "sequence_invalid", which says what is wrong in which of them, before anything is loaded."""
    try:
        found = json.loads(source.read_text("utf-8"))
    except ValueError as error:
        raise SpeechError("sequence_file", path=source, reason=error) from error
    found = found.get("requests") if isinstance(found, dict) else found
    if not isinstance(found, list) or not found:
        raise SpeechError("sequence_file", path=source, reason="it holds no list of requests")
    lines: list[Line] = []
    for number, data in enumerate(found, 1):
        try:
            lines.append(_line(data, number, spec, lines))
        except SpeechError as error:
            raise SpeechError("sequence_invalid", error.field, number=number, error=error) from error
    return lines


def _line(data: object, number: int, spec: ModelSpec, before: list[Line]) -> Line:
    if not isinstance(data, dict):
        raise SpeechError("body_invalid")
    entry = schema.checked(Entry, data, EXPECTED)
    if not entry.text.strip():
        raise SpeechError("text_empty", "text")
    checked_controls(family(spec.family), spec.id, entry.options)
    name = entry.id or str(number)
    line = Line(entry, name, Path(entry.out or f"{name}.wav"))
    _folder(line.out)
    if line.out.suffix.lower() != ".wav":
        expected = {"en": "a file NAME.wav", "zh": "名为 NAME.wav 的文件"}
        raise SpeechError("field_invalid", "out", name="out", expected=expected)
    if any(line.out == other.out for other in before):
        raise SpeechError("field_invalid", "out", name="out", expected={
            "en": f"another file than {line.out}, which an earlier request writes",
            "zh": f"与前面请求不同的文件（{line.out} 已被使用）"})
    return line


def _speak(session: Session, line: Line, watermark: str) -> dict:
    """Its metrics, with the caller's id and the file."""
    entry = line.entry
    try:
        cloned = cloned_voice(session, entry.voice)
        voice, clip = sounding(session, entry.voice, cloned)
        request = SpeechRequest(entry.text, session.spec.id, voice, entry.language, entry.speed, entry.seed, entry.options,
                                clip)
        speech = session.run(request)
        write_speech(speech, line.out, cloned.name if cloned else "", watermark)
    except SpeechError as error:
        print(f"{line.id}: {error.sentence()}", file=sys.stderr)
        told = {"code": error.code, "field": error.field, "message": error.sentence()}
        return {"id": line.id, "out": None, "error": told}
    figures = speech.metrics
    print(f"{line.id}: {line.out}, {figures.audio_seconds:.2f} s of speech, first sound {figures.ttfa * 1000:.0f} ms, "
          f"{figures.rtf:.2f}x real time", file=sys.stderr)
    return figures.report() | {"id": line.id, "request_id": figures.id, "out": str(line.out)}


def _folder(file: Path) -> None:
    if not file.parent.is_dir():
        raise SpeechError("folder_missing", "out", path=file.parent)


def _write(target: Path, session: Session, reports: list[dict]) -> None:
    about = session.report()
    partial = target.with_name(f".{target.name}.part")
    partial.write_text(json.dumps({"session": about, "requests": reports}, indent=1, ensure_ascii=False), "utf-8")
    partial.replace(target)
