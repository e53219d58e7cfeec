"""Segments to sound: voice carried on, bad cases made anew or cut off, nothing longer than the caches."""
from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from models.families.voxcpm.decoder import StreamingDecoder
from models.families.voxcpm.engine import Engine, Sampling
from models.families.voxcpm.text import instructed, longest
from models.families.voxcpm.voice import VoiceState

FADE = 0.03  # seconds over which a runaway is faded out where it is cut
NOTHING = np.zeros(0, np.float32)  # a beat in which the request may be cancelled


@dataclass(frozen=True)
class Manner:
    """A request's controls, and its voice. continues: go on from the voice's clip."""

    voice: VoiceState | None
    continues: bool
    instruction: str
    cfg_value: float
    timesteps: int
    temperature: float
    retries: int
    seed: int | None


class Speaker:
    def __init__(self, engine: Engine):
        self._engine = engine

    def fits(self, text: str, manner: Manner) -> bool:
        """Whether text and all the sound it may take have room in the caches."""
        text = instructed(text, manner.instruction)
        return self._engine.needs(text, manner.voice, manner.continues) + self._longest(text) <= self._engine.capacity

    def speak(self, text: str, manner: Manner, number: int) -> Generator[np.ndarray, None, VoiceState | None]:
        """float32 samples patch by patch, empty ones while nothing is sent yet. number: of the utterance, for the seed.

        Returns the voice to go on in, when it was given none and the model came to an end by itself.
        """
        text = instructed(text, manner.instruction)
        most = max(1, min(self._longest(text), self._engine.capacity - self._engine.needs(text, manner.voice, manner.continues)))
        held: list[Tensor] = []
        for attempt in range(manner.retries + 1):
            noise = self._noise(manner.seed, number, attempt)
            sampling = Sampling(manner.cfg_value, manner.timesteps, manner.temperature, noise)
            utterance = self._engine.utterance(text, manner.voice, manner.continues, sampling)
            decoder = self._engine.decoder(manner.voice, manner.continues, noise)
            held.clear()
            for count in range(1, most + 1):
                patch = utterance.patch()
                if manner.retries:
                    held.append(patch)
                    yield NOTHING
                else:
                    yield self._sound(decoder, patch, cut=count == most and not utterance.ended)
                if utterance.ended:
                    break
            if utterance.ended:
                break
        for count, patch in enumerate(held, 1):
            yield self._sound(decoder, patch, cut=count == len(held) and not utterance.ended)
        return utterance.as_voice(decoder) if manner.voice is None and utterance.ended else None

    def _longest(self, text: str) -> int:
        return longest(text, len(self._engine.tokens(text)), self._engine.patch_seconds)

    def _noise(self, seed: int | None, number: int, attempt: int) -> torch.Generator:
        noise = torch.Generator(self._engine.device)
        if seed is None:
            noise.seed()
        else:
            noise.manual_seed((seed + 1_000_003 * number + 7_919 * attempt) % 2**63)
        return noise

    def _sound(self, decoder: StreamingDecoder, patch: Tensor, cut: bool) -> np.ndarray:
        samples = decoder.decode(patch.float()).cpu().numpy()
        if cut:
            fade = round(FADE * self._engine.sample_rate)
            samples[-fade:] *= np.linspace(1.0, 0.0, fade, dtype=np.float32)
        return samples
