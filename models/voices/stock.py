"""The stock voices as speakers: what each sounds like to the speaker encoder, worked out once and kept."""
from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from models.families.kokoro import voices, weights
from models.families.kokoro.constants import SAMPLE_RATE
from models.folders import replacing
from models.voices.rehearsal import Rehearsal
from models.voices.encoder_weights import PACKAGE
from models.voices.speaker import speaker_encoder
from models.weights import home

FEW = 6  # voices in a blend
REVISION = 2  # of how they are measured
_lock = threading.Lock()
_measured: dict[str, "Stock"] = {}


@dataclass(frozen=True)
class Stock:
    """names: stock voices. tables: float32 [n, 510, 256]. speakers: unit embeddings, float32 [n, 256]."""

    names: list[str]
    tables: Tensor
    speakers: Tensor

    def blend(self, target: Tensor) -> list[tuple[str, float]]:
        """The convex blend of at most 6 voices whose embeddings come nearest to a target [256]; greatest share first."""
        from scipy.optimize import nnls

        chosen = np.arange(len(self.names))
        for _ in range(2):  # all of them, then the few that matter
            shares, _ = nnls(self.speakers[chosen].numpy().T.astype(np.float64), target.numpy().astype(np.float64))
            if not shares.any():
                shares = (self.speakers[chosen] @ target).numpy().clip(1e-6)
            chosen = chosen[np.argsort(-shares)[:FEW]]
            shares = np.sort(shares)[::-1][:FEW]
        shares = shares / shares.sum()
        return [(self.names[index], float(share)) for index, share in zip(chosen, shares) if share >= 0.02]

    def mixed(self, shares: Sequence[tuple[str, float]]) -> Tensor:
        """float32 [510, 256], shares scaled to sum 1."""
        total = sum(share for _, share in shares)
        return sum(self.tables[self.names.index(name)] * (share / total) for name, share in shares)


def stock(rehearsal: Rehearsal, progress: Callable[[str], None] = lambda line: None) -> Stock:
    """Every stock voice says one line, the first time; some ten seconds on two cores. Any later call takes a blink."""
    file = weights.fetch_voices(progress)
    readers, digest = voices.stock(file), _digest(file)
    with _lock:
        if digest not in _measured:
            _measured.clear()
            _measured[digest] = _measure(readers, digest, rehearsal, progress)
        return _measured[digest]


def _measure(readers: dict[str, Callable[[], np.ndarray]], digest: str, rehearsal: Rehearsal,
             progress: Callable[[str], None]) -> Stock:
    names = sorted(readers)
    tables = torch.stack([torch.from_numpy(readers[name]()) for name in names])
    kept = home() / "kokoro" / f"speakers-{digest[:16]}.safetensors"
    known = _kept(kept)
    for number, name in enumerate(names):
        if name not in known:
            if number % 6 == 0:
                progress(f"listening to the stock voices: {number} of {len(names)}")
            known[name] = speaker_of(rehearsal, tables[number])
            if number % 6 == 5 or name == names[-1]:  # a start that is broken off goes on from here
                _keep(known, kept)
    return Stock(names, tables, torch.stack([known[name] for name in names]))


def speaker_of(rehearsal: Rehearsal, table: Tensor, line: int = 0) -> Tensor:
    """The embedding [256] of a voice [510, 256] saying one line."""
    return torch.from_numpy(speaker_encoder().embed(rehearsal.say(line, table), SAMPLE_RATE))


def _digest(file: Path) -> str:
    """Of all that the embeddings depend on."""
    hasher = hashlib.sha256(f"{REVISION} {PACKAGE}".encode())
    hasher.update(file.read_bytes())
    return hasher.hexdigest()


def _kept(file: Path) -> dict[str, Tensor]:
    try:
        return load_file(file)
    except (FileNotFoundError, SafetensorError):  # or half a file: measured anew
        return {}


def _keep(tensors: dict[str, Tensor], target: Path) -> None:
    with replacing(target) as name:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, name)
