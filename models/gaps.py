"""Where a model may be left in the middle of a segment, and asked to come back."""
from __future__ import annotations

import ctypes
from collections.abc import Callable


class Gap:
    """Called by a model between two steps of a segment: whoever waits for less than the rest of it may come first.

    It must be called only where nothing of the utterance lies in what all of them share: in the call the same model
    may speak another request's segment on the same thread. What it raises must end the segment.

    wanted: not 0 when there may be a reason. Any thread sets it; compiled code looks at it without Python.
    """

    def __init__(self, fill: Callable[[], None] = lambda: None):
        self.wanted = ctypes.c_int32(0)
        self._fill = fill

    def __call__(self) -> None:
        if self.wanted.value:
            self._fill()
