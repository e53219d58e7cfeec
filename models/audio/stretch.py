"""Faster or slower speech at the same pitch, chunk by chunk.

WSOLA (Verhelst and Roelands, 1993): windows of the input are laid at another pace, each moved by a few milliseconds
to where it goes on most like the one before it. For models that have no pace of their own to set.
"""
from __future__ import annotations

import numpy as np

HOP = 0.020  # seconds between windows in the output; a window is twice as long
SEARCH = 0.008  # seconds a window may be moved either way: a period of the deepest voice (about 62 Hz) in all


class Stretch:
    """speed: 1 hands samples through untouched, 2 makes them half as long. rate: samples a second."""

    LOW, HIGH = 0.5, 2.0

    def __init__(self, speed: float, rate: int):
        if not self.LOW <= speed <= self.HIGH:
            raise ValueError(f"speed must be from {self.LOW} to {self.HIGH}, not {speed}")
        self._speed = speed
        self._hop, self._search = round(HOP * rate), round(SEARCH * rate)
        self._rise = (0.5 - 0.5 * np.cos(np.pi * (np.arange(self._hop) + 0.5) / self._hop)).astype(np.float32)
        self._input = np.zeros(0, np.float32)
        self._start = 0  # position of the input's first kept sample
        self._taken = self._made = self._frames = 0
        self._tail: np.ndarray | None = None
        self._next = 0  # where the last window's natural continuation lies

    def feed(self, samples: np.ndarray) -> np.ndarray:
        """What can be said after these samples; may be empty."""
        if self._speed == 1.0:
            return samples
        self._taken += len(samples)
        self._input = np.concatenate([self._input, samples])
        return self._run()

    def flush(self) -> np.ndarray:
        """The rest. All output together is as long as all input divided by the speed."""
        if self._speed == 1.0 or not self._taken:
            return np.zeros(0, np.float32)
        rest = round(self._taken / self._speed) - self._made
        if rest <= 0:
            return np.zeros(0, np.float32)
        windows = -(-rest // self._hop) + 1
        needed = round((self._frames + windows) * self._hop * self._speed) + self._search + 2 * self._hop
        self._input = np.concatenate([self._input, np.zeros(max(0, needed - self._start - len(self._input)), np.float32)])
        return self._run()[:rest]

    def _run(self) -> np.ndarray:
        done = []
        while True:
            target = round(self._frames * self._hop * self._speed)
            if self._start + len(self._input) < target + self._search + 2 * self._hop:
                break
            at = self._best(target) if self._frames else target
            window = self._input[at - self._start:at - self._start + 2 * self._hop]
            head = window[:self._hop]
            done.append(head if self._tail is None else head * self._rise + self._tail)
            self._tail = window[self._hop:] * self._rise[::-1]
            self._next = at + self._hop
            self._frames += 1
            self._forget()
        out = np.concatenate(done) if done else np.zeros(0, np.float32)
        self._made += len(out)
        return out

    def _best(self, target: int) -> int:
        """The start within reach of `target` that sounds most like the last window's continuation."""
        low = max(self._start, target - self._search)
        field = self._input[low - self._start:target + self._search + self._hop - self._start]
        goal = self._input[self._next - self._start:self._next - self._start + self._hop]
        likeness = np.correlate(field, goal, "valid")
        power = np.concatenate([[0.0], np.cumsum(np.square(field, dtype=np.float64))])
        energy = power[self._hop:] - power[:-self._hop]
        return low + int(np.argmax(likeness / np.sqrt(energy + 1e-9)))

    def _forget(self) -> None:
        keep = min(self._next, round(self._frames * self._hop * self._speed) - self._search)
        if keep > self._start:
            self._input = self._input[keep - self._start:]
            self._start = keep
