"""The library of saved voices: one folder a voice below `home()/voices`, or below READYVOICE_VOICES.

    ID/meta.json              the record (models.voices.record)
    ID/clip.flac              the reference clip, bit for bit
    ID/states/MODEL.safetensors   what a model made of it, so that a restart is warm too
    .trash/ID                 deleted ones, kept for a week

A voice appears and disappears by one rename, so a half-written one is never seen. Nothing is remembered between
calls: several processes may use the same folder.
"""
from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.audio.decode import decode
from models.audio.encode import on_grid, to_flac
from models.errors import SpeechError
from models.voices import folder as files
from models.voices.clip import Clip
from models.voices.record import ID, MODEL, Consent, SavedVoice, changed, checked, from_json, now
from models.weights import home

if TYPE_CHECKING:
    from torch import Tensor

KEPT = 7 * 24 * 3600  # seconds a deleted voice can be brought back


def place() -> Path:
    """Where saved voices lie."""
    return Path(os.environ.get("READYVOICE_VOICES") or home() / "voices")


class Library:
    """Who asks is always named: `owner` is a login's id, or None for the operator, who sees and may change everything.

    Every method may raise SpeechError("saved_voice_unknown") for a voice that isn't there or may not be seen, and those
    that change one SpeechError("saved_voice_foreign") where it is somebody else's.
    """

    def __init__(self, folder: Path | None = None):
        self.folder = folder or place()
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._trash = self.folder / ".trash"
        files.sweep(self.folder)
        self._empty_trash()

    # -- looking

    def list(self, owner: str | None, search: str = "", tag: str = "") -> list[SavedVoice]:
        """What `owner` may speak in, own ones and shared ones, by name. search: words that occur in name, notes, tags,
        transcript or language."""
        words = search.casefold().split()
        found = []
        for voice in self._all(self.folder):
            if not _visible(voice, owner) or (tag and tag not in voice.tags):
                continue
            private = (voice.notes, voice.transcript) if owner in (None, voice.owner) else ()
            text = " ".join((voice.name, *voice.tags, voice.language, *private)).casefold()
            if all(word in text for word in words):
                found.append(voice)
        return sorted(found, key=lambda voice: (voice.name.casefold(), voice.created, voice.id))

    def tags(self, owner: str | None) -> list[str]:
        return sorted({tag for voice in self.list(owner) for tag in voice.tags})

    def get(self, voice_id: str, owner: str | None) -> SavedVoice:
        voice = self._read(self.folder / voice_id) if ID.fullmatch(voice_id) else None
        if voice is None or not _visible(voice, owner):
            raise SpeechError("saved_voice_unknown", "voice", name=voice_id)
        return voice

    def named(self, name: str, owner: str | None) -> SavedVoice:
        """By name or id; among voices of one name the asker's own comes first."""
        same = [voice for voice in self.list(owner) if name in (voice.name, voice.id)]
        if not same:
            raise SpeechError("saved_voice_unknown", "voice", name=name)
        return min(same, key=lambda voice: voice.owner != owner)

    def clip(self, voice_id: str, owner: str | None) -> Clip:
        """The reference clip with its transcript: the same samples, and so the same digest, as were saved."""
        voice = self.get(voice_id, owner)
        decoded = self._file(voice, "clip.flac")
        sound = decode(decoded)
        return Clip(sound.samples, sound.sample_rate, voice.transcript)

    def state(self, voice_id: str, owner: str | None, model: str) -> dict[str, Tensor] | None:
        """What `model` made of the clip; None where there is nothing, or it belongs to another clip or transcript."""
        from models.voices.states import read

        voice = self.get(voice_id, owner)
        path = self.folder / voice.id / "states" / f"{_model(model)}.safetensors"
        return read(path, lambda: self.clip(voice_id, owner)) if path.is_file() else None

    def states(self, voice: SavedVoice) -> list[str]:
        """The models that something was made of its clip for, as the names of their states."""
        return sorted(path.stem for path in (self.folder / voice.id / "states").glob("[!.]*.safetensors"))

    # -- changing

    def save(self, clip: Clip, name: str, owner: str, consent: str, *, states: Mapping[str, Mapping[str, Tensor]] | None = None,
             **about: Any) -> SavedVoice:
        """Keep a clip as a voice. consent: who says that the speaker agreed. about: language, notes, tags, shared, pinned,
        likeness. states: by model id, as `export_voice` gives them.

        Raises SpeechError: consent_missing, voice_name_taken, field_invalid.
        """
        from models.voices.states import packed

        bare = SavedVoice(secrets.token_hex(8), name, owner, Consent(consent, now()), created=now(),
                          seconds=round(clip.seconds, 2), transcript=clip.transcript)
        voice = changed(checked(bare), about)
        clip = Clip(on_grid(clip.samples), clip.sample_rate, voice.transcript)
        parts = {f"states/{_model(model)}.safetensors": packed(state, clip) for model, state in (states or {}).items()}
        return self._add(voice, {"clip.flac": to_flac(clip.samples, clip.sample_rate), **parts})

    def edit(self, voice_id: str, owner: str | None, **changes: Any) -> SavedVoice:
        """Change name, notes, tags, language, transcript, shared, pinned or likeness."""
        with files.locked(self.folder):
            voice = changed(self._own(voice_id, owner), changes)
            if "name" in changes:
                self._free(voice)
            files.write(self.folder / voice.id / "meta.json", voice.to_json().encode())
        return voice

    def put_state(self, voice_id: str, owner: str | None, model: str, tensors: Mapping[str, Tensor]) -> None:
        """Keep what a model made of the clip. Whoever may speak in a voice may leave it there."""
        from models.voices.states import packed

        voice = self.get(voice_id, owner)
        data = packed(tensors, self.clip(voice_id, owner))
        with files.locked(self.folder):
            self.get(voice_id, owner)
            states = self.folder / voice.id / "states"
            states.mkdir(exist_ok=True)
            files.write(states / f"{_model(model)}.safetensors", data)

    def duplicate(self, voice_id: str, owner: str, name: str) -> SavedVoice:
        """A copy that belongs to `owner`; the consent given stays what it was."""
        voice = self.get(voice_id, owner)
        copy = replace(self._told(voice, owner), id=secrets.token_hex(8), name=name, owner=owner, shared=False,
                       pinned=False, created=now())
        return self._add(checked(copy), self._parts(voice))

    def delete(self, voice_id: str, owner: str | None) -> SavedVoice:
        """Can be undone for a week."""
        self._empty_trash()
        with files.locked(self.folder):
            voice = self._own(voice_id, owner)
            self._trash.mkdir(exist_ok=True, mode=0o700)
            (self.folder / voice.id / "meta.json").touch()  # from now on its week counts
            (self.folder / voice.id).rename(self._trash / voice.id)
            files.sync(self.folder)
        return voice

    def undo_delete(self, voice_id: str, owner: str | None) -> SavedVoice:
        self._empty_trash()
        with files.locked(self.folder):
            voice = self._read(self._trash / voice_id) if ID.fullmatch(voice_id) else None
            if voice is None or owner not in (None, voice.owner):
                raise SpeechError("saved_voice_unknown", "voice", name=voice_id)
            self._free(voice)
            (self._trash / voice.id).rename(self.folder / voice.id)
            files.sync(self.folder)
        return voice

    def deleted(self, owner: str | None) -> list[SavedVoice]:
        return [voice for voice in self._all(self._trash) if owner in (None, voice.owner)]

    # -- one file

    def export_file(self, voice_id: str, owner: str | None) -> bytes:
        """The whole voice as a zip file."""
        from models.voices.archive import packed

        voice = self.get(voice_id, owner)
        told = replace(self._told(voice, owner), owner="", shared=False, pinned=False)
        return packed(told, self._parts(voice))

    def import_file(self, data: bytes, owner: str) -> SavedVoice:
        """A voice from `export_file`, as one of `owner`'s. Raises SpeechError("voice_file_invalid" or "voice_name_taken")."""
        from models.voices.archive import unpacked

        voice, parts = unpacked(data)
        return self._add(checked(replace(voice, id=secrets.token_hex(8), owner=owner, shared=False, pinned=False)), parts)

    # -- inside

    def _all(self, folder: Path) -> list[SavedVoice]:
        try:
            names = [path.name for path in folder.iterdir() if ID.fullmatch(path.name)]
        except FileNotFoundError:
            return []
        return [voice for name in names if (voice := self._read(folder / name)) is not None]

    def _read(self, path: Path) -> SavedVoice | None:
        """None for what is gone meanwhile, or was never a voice."""
        try:
            voice = from_json((path / "meta.json").read_bytes())
        except (OSError, ValueError):
            return None
        return voice if voice.id == path.name else None

    def _own(self, voice_id: str, owner: str | None) -> SavedVoice:
        voice = self.get(voice_id, owner)
        if owner not in (None, voice.owner):
            raise SpeechError("saved_voice_foreign", "voice", name=voice.name)
        return voice

    @staticmethod
    def _told(voice: SavedVoice, owner: str | None) -> SavedVoice:
        """Without what its owner wrote down for themselves."""
        return voice if owner in (None, voice.owner) else replace(voice, notes="")

    def _free(self, voice: SavedVoice) -> None:
        """Raises SpeechError when another voice of its owner has its name."""
        if any(other.name.casefold() == voice.name.casefold() and other.owner == voice.owner and other.id != voice.id
               for other in self._all(self.folder)):
            raise SpeechError("voice_name_taken", "name", name=voice.name)

    def _file(self, voice: SavedVoice, name: str) -> bytes:
        try:
            return (self.folder / voice.id / name).read_bytes()
        except OSError as error:
            raise SpeechError("saved_voice_unknown", "voice", name=voice.name) from error

    def _parts(self, voice: SavedVoice) -> dict[str, bytes]:
        return {name: self._file(voice, name)
                for name in ("clip.flac", *(f"states/{model}.safetensors" for model in self.states(voice)))}

    def _add(self, voice: SavedVoice, parts: Mapping[str, bytes]) -> SavedVoice:
        with files.locked(self.folder):
            self._free(voice)
            with files.new_folder(self.folder / voice.id) as work:
                (work / "states").mkdir()
                for name, data in parts.items():
                    (work / name).write_bytes(data)
                (work / "meta.json").write_text(voice.to_json(), encoding="utf-8")
        return voice

    def _empty_trash(self) -> None:
        for path in self._trash.glob("*") if self._trash.is_dir() else ():
            try:
                if time.time() - (path / "meta.json").stat().st_mtime > KEPT:
                    shutil.rmtree(path, ignore_errors=True)
            except OSError:
                shutil.rmtree(path, ignore_errors=True)


def _visible(voice: SavedVoice, owner: str | None) -> bool:
    return owner is None or voice.shared or voice.owner == owner


def _model(model: str) -> str:
    """A model's id as a file name."""
    name = model.lower().replace(".", "-").replace(" ", "-")
    if not MODEL.fullmatch(name):
        raise SpeechError("field_invalid", "model", name="model", expected={"en": "a model's id", "zh": "模型编号"})
    return name
