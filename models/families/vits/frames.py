"""What the encoder gives for one utterance, column by column, and the noise of its latent.

The encoder reads an utterance whole, which is most of the wait for its first sound. Where the utterance is long, its
beginning is read alone first, with some of what follows so that it is said as one that goes on (the lead). While those
frames are heard the whole is read, and its frames follow on. The seam lies between two words and in the encoder's
output: the flow and the decoder run over it as over any other place, so nothing is cut in what is heard.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from models.families.vits.prepare import Layout
from models.families.vits.split import NOISE

KEPT = 96  # frames of a lead that are used
AHEAD = 24  # phoneme ids that a lead is read with beyond those
PER_ID = 2.2  # frames a phoneme id (padding included) lasts at Piper's usual pace; only a guess is needed
WORTH = 1.6  # times as long as its lead must an utterance be to be given one
LOOK = 26  # ids in which the end of a word is looked for

Values = dict[str, np.ndarray]


@dataclass(frozen=True)
class Lead:
    """kept: ids whose frames are used; read: ids read for them."""

    kept: int
    read: int


def lead(ids: Sequence[int], space: int | None, length: float) -> Lead | None:
    """Where the beginning of an utterance ends, None for one read whole at once. space: the id between words; length:
    the pace, 2.0 for half as fast."""
    least = max(8, round(KEPT / (PER_ID * length)))
    if len(ids) < WORTH * (least + AHEAD):
        return None
    spaces = (at for at in range(least, least + LOOK) if ids[at] == space)
    kept = next(spaces, least) + 2  # with the padding behind it
    return Lead(kept, min(len(ids), kept + AHEAD))


class Frames:
    """count: frames known so far; settled: those that will stay as they are.

    read(ids) runs the encoder on the first so many phoneme ids. The noise is drawn frame by frame, so that it depends
    neither on where windows end nor on whether there is a lead.
    """

    def __init__(self, read: Callable[[int], Values], ids: int, lead: Lead | None, layout: Layout,
                 rng: np.random.Generator):
        self._read, self._ids, self._lead, self._layout, self._rng = read, ids, lead, layout, rng
        self._values = read(lead.read if lead else ids)
        self.settled = self._lasts(self._values, lead.kept) if lead else self.count
        self._noise = np.empty((1, layout.noise_channels, self.count), np.float32)
        self._drawn = 0

    @property
    def count(self) -> int:
        return self._values[self._layout.moving[0]].shape[-1]

    def known(self, end: int) -> int:
        """`count`, after having read on if the frames before `end` are not settled yet."""
        if end > self.settled and self._lead is not None:
            self._read_on(self._lead.kept)
        return self.count

    def resize(self, count: int) -> None:
        """Repeat or cut what was read to so many frames."""
        for name in self._layout.moving:
            self._values[name] = np.resize(self._values[name], (*self._values[name].shape[:-1], count))
        self._grow()

    def _read_on(self, cut: int) -> None:
        """Read the whole utterance and put its frames from id `cut` on behind the settled ones."""
        whole = self._read(self._ids)
        begin = self._lasts(whole, cut)
        for name in self._layout.moving:
            whole[name] = np.concatenate([self._values[name][..., :self.settled], whole[name][..., begin:]], -1)
        self._values, self._lead = whole, None
        self._grow()

    def _grow(self) -> None:
        """All that was read is settled now; the noise drawn so far stays."""
        self.settled, noise = self.count, np.empty((*self._noise.shape[:-1], self.count), np.float32)
        self._drawn = min(self._drawn, self.count)
        noise[..., :self._drawn] = self._noise[..., :self._drawn]
        self._noise = noise

    def feed(self, names: list[str], low: int, high: int) -> Values:
        """The named values, those that move in time cut to the frames [low, high)."""
        if NOISE in names and high > self._drawn:
            fresh = self._rng.standard_normal((high - self._drawn, self._noise.shape[1]), np.float32)
            self._noise[0, :, self._drawn:high] = fresh.T
            self._drawn = high
        values, moving = self._values | {NOISE: self._noise}, {*self._layout.moving, NOISE}
        return {name: values[name][..., low:high] if name in moving else values[name] for name in names}

    def _lasts(self, values: Values, ids: int) -> int:
        """Frames of the first so many ids."""
        return int(values[self._layout.durations].reshape(-1)[:ids].sum())
