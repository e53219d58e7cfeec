"""One piece of text spoken: frames from the talker, grouped, decoded and handed out while the next are made."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from models.families.qwen3_tts.codec import Past, StreamDecoder
from models.families.qwen3_tts.talker import Prompt, Talker

FADE = 240  # samples, 10 ms: for speech that is cut off


@dataclass
class Utterance:
    """A piece as far as it is spoken. ended: the model itself found an end."""

    frames: list[Tensor] = field(default_factory=list)
    ended: bool = False

    @property
    def codes(self) -> Tensor:
        """[frames, groups]"""
        return torch.cat(self.frames)


class Speaker:
    """first, most: frames in the first and in the largest chunk; chunks grow while the listener gets ahead."""

    def __init__(self, talker: Talker, decoder: StreamDecoder, first: int, most: int):
        self._talker, self._decoder = talker, decoder
        self._first, self._most = first, max(first, most)

    def speak(self, prompt: Prompt, past: Past, generator: torch.Generator, limit: int, said: Utterance,
              spoken: Tensor | None = None) -> Iterator[np.ndarray]:
        """float32 chunks. past: the decoder's, which moves on; said: filled on the way; spoken: see `Talker.frames`."""
        waiting: list[Tensor] = []
        sizes = self._sizes()
        size = next(sizes)
        frames = self._talker.frames(prompt, generator, limit, spoken)
        for codes in frames:
            said.frames.append(codes)
            waiting.append(codes)
            if len(waiting) == size and len(said.frames) < limit:
                yield self._sound(waiting, past)
                waiting, size = [], next(sizes)
        said.ended = len(said.frames) < limit
        if waiting:
            samples = self._sound(waiting, past)
            if not said.ended:
                samples[-FADE:] *= np.linspace(1.0, 0.0, min(FADE, len(samples)), dtype=np.float32)
            yield samples

    def _sizes(self) -> Iterator[int]:
        """first, first, then doubling: each chunk lasts no longer than all before it, which play meanwhile."""
        size = self._first
        yield size
        while True:
            yield size
            size = min(2 * size, self._most)

    def _sound(self, frames: list[Tensor], past: Past) -> np.ndarray:
        return self._decoder.decode(torch.cat(frames), past).cpu().numpy()
