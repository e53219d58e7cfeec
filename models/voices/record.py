"""What is written down about a saved voice, and its check: what comes out of a file may be anything."""
from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timezone
from typing import Any

from models.errors import SpeechError

ID = re.compile(r"[0-9a-f]{16}")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*")
MODEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")  # the id of a model as a file name
LIMITS = {"name": 80, "notes": 2000, "transcript": 10_000, "who": 120, "owner": 200}
TAGS, TAG = 12, 40  # how many, how long


@dataclass(frozen=True)
class Consent:
    """who says that the speaker agreed, and when (ISO 8601, UTC)."""

    who: str
    when: str


@dataclass(frozen=True)
class SavedVoice:
    """id: random, and the folder's name. owner: whose it is. shared: everybody may speak in it. pinned: its states are
    loaded at start. created: ISO 8601, UTC. likeness: of the fitted kokoro voice to the clip, None where there is none."""

    id: str
    name: str
    owner: str
    consent: Consent
    shared: bool = False
    language: str = ""
    transcript: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    pinned: bool = False
    seconds: float = 0.0
    likeness: float | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)


CHANGEABLE = ("name", "notes", "tags", "language", "transcript", "shared", "pinned", "likeness")


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def from_json(text: str | bytes) -> SavedVoice:
    """Raises ValueError for anything but a whole and sound record."""
    data = json.loads(text)
    if not isinstance(data, dict) or not isinstance(data.get("consent"), dict):
        raise ValueError("no record of a voice")
    known = {field.name for field in fields(SavedVoice)}
    values = {name: value for name, value in data.items() if name in known}
    try:
        consent = Consent(**{name: _string(data["consent"].get(name), "who") for name in ("who", "when")})
        return checked(SavedVoice(**{**values, "consent": consent, "tags": tuple(values.get("tags") or ())}))
    except (TypeError, SpeechError) as error:
        raise ValueError(str(error)) from error


def checked(voice: SavedVoice) -> SavedVoice:
    """The record with its texts tidied. Raises SpeechError naming the field, TypeError for values of another kind."""
    if not isinstance(voice.id, str) or not ID.fullmatch(voice.id):
        raise _invalid("id", "sixteen hexadecimal digits", "十六位十六进制数")
    texts = {name: _string(getattr(voice, name), name) for name in ("name", "notes", "transcript", "owner")}
    if not texts["name"]:
        raise _invalid("name", "a name for the voice", "声音的名字")
    who = _string(voice.consent.who, "who")
    if not who:
        raise SpeechError("consent_missing", "consent")
    language = _string(voice.language, "name").lower().replace("_", "-")
    if language and not LANGUAGE.fullmatch(language):
        raise _invalid("language", "a tag such as en or zh", "语言代码，如 en 或 zh")
    for name, value in (("created", voice.created), ("when", voice.consent.when)):
        if not isinstance(value, str) or len(value) > 40:
            raise _invalid(name, "a date", "日期")
    for name in ("shared", "pinned"):
        if not isinstance(getattr(voice, name), bool):
            raise _invalid(name, "true or false", "true 或 false")
    for name in ("seconds", "likeness"):
        value = getattr(voice, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6):
            raise _invalid(name, "a number", "数字")
    if len(voice.tags) > TAGS:
        raise _invalid("tags", f"at most {TAGS}", f"最多 {TAGS} 个")
    tags = tuple(dict.fromkeys(tag for given in voice.tags if (tag := _string(given, "name")[:TAG])))
    return replace(voice, **texts, language=language, tags=tags, consent=replace(voice.consent, who=who))


def changed(voice: SavedVoice, changes: Mapping[str, Any]) -> SavedVoice:
    """Raises SpeechError for a field that isn't there or may not be changed."""
    if unknown := [name for name in changes if name not in CHANGEABLE]:
        raise SpeechError("field_unknown", unknown[0], name=unknown[0],
                          nearest={"en": f" that can be changed: there are {', '.join(CHANGEABLE)}",
                                   "zh": f"可以修改，可用的有：{'、'.join(CHANGEABLE)}"})
    values = dict(changes)
    if "tags" in values:
        values["tags"] = tuple(values["tags"])
    return checked(replace(voice, **values))


def _string(value: object, name: str) -> str:
    """One tidy text: normal form, no control signs but line breaks, within its limit."""
    if not isinstance(value, str):
        raise _invalid(name, "text", "文字")
    kept = unicodedata.normalize("NFC", value)
    if name in ("name", "who", "owner"):
        kept = " ".join(kept.split())
    kept = "".join(sign for sign in kept if unicodedata.category(sign) not in ("Cc", "Cs", "Co", "Cn") or sign == "\n").strip()
    if len(kept) > LIMITS[name]:
        raise _invalid(name, f"at most {LIMITS[name]} characters long", f"最多 {LIMITS[name]} 个字符")
    return kept


def _invalid(name: str, english: str, chinese: str) -> SpeechError:
    return SpeechError("field_invalid", name, name=name, expected={"en": english, "zh": chinese})
