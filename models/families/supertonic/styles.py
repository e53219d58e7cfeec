"""A voice style: the two arrays that make Supertonic sound like somebody."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PARTS = ("style_ttl", "style_dp")


@dataclass(frozen=True)
class Style:
    """ttl: for text to latent; dp: for durations. float32, each (1, tokens, channels), read only."""

    ttl: np.ndarray
    dp: np.ndarray

    @property
    def bytes(self) -> int:
        return self.ttl.nbytes + self.dp.nbytes


def read(content: bytes, shapes: Mapping[str, tuple]) -> Style:
    """From the official JSON. shapes: per part what the graphs take, with None or a name where any size will do.

    Raises ValueError saying what is wrong.
    """
    data = json.loads(content)
    arrays = []
    for part in PARTS:
        try:
            array = np.array(data[part]["data"], np.float32).reshape([int(size) for size in data[part]["dims"]])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{part} needs dims and data, and {error} is missing or of another kind") from error
        wanted = shapes[part]
        if array.ndim != len(wanted) or array.shape[0] != 1 or any(
                isinstance(size, int) and size != found for size, found in zip(wanted[1:], array.shape[1:])):
            raise ValueError(f"{part} has the shape {array.shape}, the network takes {wanted}")
        if not np.isfinite(array).all():
            raise ValueError(f"{part} holds numbers that are none")
        array.setflags(write=False)
        arrays.append(array)
    return Style(*arrays)


def content_of(file: Path) -> tuple[bytes, str]:
    """A style file's content and its sha256, which is its key: a file that changes is another style."""
    content = file.read_bytes()
    return content, hashlib.sha256(content).hexdigest()
