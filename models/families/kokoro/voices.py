"""Voice styles: stock voices and mixes of them, as the arrays the network wants."""
from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from models.errors import SpeechError
from models.families.kokoro import catalogue
from models.families.kokoro.weights import REMEDY, VOICE_SHAPE
from models.families.protocol import Voice
from models.slots import Slots
from models.voices import saved

ROWS, STYLE = VOICE_SHAPE[0], VOICE_SHAPE[2]
# a name, and a weight in brackets where it isn't 1; my:ID is a saved voice
PART = re.compile(r"\s*((?:my:)?[\w.-]+)\s*(?:\(\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*\))?\s*")


@dataclass(frozen=True)
class Mix:
    """Stock voices and their shares, which sum to 1. id: as it was written."""

    id: str
    parts: tuple[tuple[str, float], ...]

    @property
    def main(self) -> str:
        """The voice with the greatest share."""
        return max(self.parts, key=lambda part: part[1])[0]


class Voices:
    """All voices of a loaded model. Reading voices and mixing them is left until a style is asked for."""

    def __init__(self, model_id: str, read: dict[str, Callable[[], np.ndarray]], slots: int):
        self._model_id, self._read = model_id, read
        self._digests: dict[str, str] = {}
        self.all = catalogue.arranged(read)
        self.styles: Slots[np.ndarray] = Slots("style_cache", slots, lambda style: style.nbytes)

    def find(self, text: str) -> Mix:
        """"af_heart", or a mix: "af_heart(2)+am_michael(1)". Raises SpeechError (voice_unknown, voice_mix_invalid)."""
        shares: dict[str, float] = {}
        for part in text.split("+"):
            match = PART.fullmatch(part)
            if match is None or not 0 < (weight := float(match[2] or 1)) < 1e6:
                raise SpeechError("voice_mix_invalid", "voice", name=text)
            name = match[1]
            if name.startswith(saved.PREFIX):
                saved.about(name, self._model_id)
            elif name not in self._read:
                raise self._unknown(name)
            shares[name] = shares.get(name, 0.0) + weight
        total = sum(shares.values())
        return Mix(text, tuple(sorted((name, weight / total) for name, weight in shares.items())))

    def info(self, name: str) -> Voice:
        if name.startswith(saved.PREFIX):
            return saved.about(name, self._model_id)
        return next(voice for voice in self.all if voice.id == name)

    def style(self, mix: Mix) -> tuple[np.ndarray, bool]:
        """float32 [510, 256], a row per number of phonemes; and whether it was a cache hit."""
        names = [name for name, _ in mix.parts if name.startswith(saved.PREFIX)]
        own = {name: np.asarray(saved.style(name, self._model_id)) for name in names}
        key = tuple((_sum(own[name]) if name in own else self._digest(name), share) for name, share in mix.parts)
        return self.styles.get(key, lambda: self._make(mix, own))

    def _make(self, mix: Mix, own: dict[str, np.ndarray]) -> np.ndarray:
        return sum((own[name] if name in own else self._read[name]()) * np.float32(share) for name, share in mix.parts)

    def _digest(self, name: str) -> str:
        """sha256 of a voice's numbers; a loaded model's voices don't change, so each is read for it once."""
        if name not in self._digests:
            self._digests[name] = _sum(self._read[name]())
        return self._digests[name]

    def _unknown(self, name: str) -> SpeechError:
        near = get_close_matches(name, self._read, 3, 0.5)
        some = near or [voice.id for voice in self.all[:6]]
        return SpeechError("voice_unknown", "voice", model=self._model_id, name=name, suggestion={
            "en": ("did you mean " if near else "choose for instance ") + ", ".join(some),
            "zh": ("您是指 " if near else "例如可选 ") + "、".join(some),
        })


def _sum(style: np.ndarray) -> str:
    return hashlib.sha256(style.tobytes()).hexdigest()


def stock(file: Path) -> dict[str, Callable[[], np.ndarray]]:
    """A reader per voice of a safetensors file. Raises SpeechError("weights_broken")."""
    try:
        stored = safe_open(file, framework="np")
        names = list(stored.keys())
    except (OSError, SafetensorError) as error:
        raise _broken(file, error) from error
    return {name: lambda name=name: _shaped(stored.get_tensor(name), file) for name in names}


def published(files: list[Path]) -> dict[str, Callable[[], np.ndarray]]:
    """A reader per file: NAME.pt as published, or NAME.bin (raw little-endian float32)."""

    def read(file: Path) -> np.ndarray:
        try:
            if file.suffix == ".pt":
                import torch

                return _shaped(torch.load(file, map_location="cpu", weights_only=True).float().numpy(), file)
            return _shaped(np.fromfile(file, dtype="<f4"), file)
        except (OSError, RuntimeError, ValueError, AttributeError, EOFError, pickle.UnpicklingError) as error:
            raise _broken(file, error) from error

    return {file.stem: lambda file=file: read(file) for file in files}


def _shaped(table: np.ndarray, file: Path) -> np.ndarray:
    if table.size != ROWS * STYLE:
        raise _broken(file, f"{table.size} numbers, not {ROWS * STYLE}")
    return np.ascontiguousarray(table, np.float32).reshape(ROWS, STYLE)


def _broken(file: Path, reason: object) -> SpeechError:
    return SpeechError("weights_broken", model="kokoro", path=file, reason=reason, advice=REMEDY)
