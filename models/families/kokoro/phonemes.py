"""Phoneme strings as token ids, in pieces the network can take."""
from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from models.text.phonemes.alphabet import VOCABULARY

BOUNDARY = 0  # stands before and after every piece
# where a string may be cut, best first: behind the end of a sentence, a clause, a word
BORDERS = ((".", "!", "?", "…"), (";", ":", ",", "—", ")", "”"), (" ",))


def vocabulary(checkpoint: Path) -> Mapping[str, int]:
    """The symbols a checkpoint knows: of the config.json beside it, else Kokoro v1.0's."""
    folder = checkpoint if checkpoint.is_dir() else checkpoint.parent
    config = folder / "config.json"
    if config.exists():
        return json.loads(config.read_text(encoding="utf-8")).get("vocab") or VOCABULARY
    return VOCABULARY


def pieces(phonemes: str, limit: int) -> list[str]:
    """Cut to at most `limit` symbols each, in the second half of each piece, at the best border that lies there."""
    result = []
    rest = phonemes.strip()
    while len(rest) > limit:
        cut = _cut(rest, limit)
        result.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return [piece for piece in [*result, rest] if piece]


def _cut(text: str, limit: int) -> int:
    for marks in BORDERS:
        at = max(text.rfind(mark, limit // 2, limit) for mark in marks)
        if at >= 0:
            return at + 1
    return limit


def ids(piece: str, known: Mapping[str, int]) -> list[int]:
    """Token ids without the boundaries; symbols the checkpoint doesn't know are left out."""
    return [known[symbol] for symbol in piece if symbol in known]
