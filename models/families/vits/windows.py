"""Where to cut a decode so that sound leaves early: a short first window, then windows that grow."""
from __future__ import annotations

from collections.abc import Callable, Iterator


def windows(known: Callable[[int], int], first: int, largest: int, growth: float = 2.0) -> Iterator[tuple[int, int]]:
    """(start, end) frames covering an utterance in order: `first` frames, each next `growth` times as long up to
    `largest`. known(end) gives the number of frames, or a number beyond `end` where it isn't told yet. A rest shorter
    than half a first window joins the window before it, so no tail is a crumb."""
    start, size = 0, first
    while start < (total := known(start + size)):
        end = start + size
        if total - end < first // 2:
            end = total
        yield start, end
        start, size = end, min(largest, round(size * growth))
