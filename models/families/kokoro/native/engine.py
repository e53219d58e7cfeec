"""The C++ network as an engine."""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping

import numpy as np

from models.families.kokoro.constants import SAMPLES_PER_FRAME, STYLE_DIM
from models.families.kokoro.native.build import LEAVE
from models.gaps import Gap

KEPT_MEMORY = 192 * 2**20  # bytes of working memory kept between segments: some 17 seconds of speech


class NativeEngine:
    """See `models.families.kokoro.engine.Engine`. narrow: the decoder in bfloat16 (`lib.kokoro_narrow_kind()` tells
    whether the CPU can). Raises ValueError where tensors are missing or of another size."""

    def __init__(self, lib: ctypes.CDLL, tensors: Mapping[str, np.ndarray], narrow: bool, threads: int):
        self._lib, self._handle = lib, lib.kokoro_new()
        held = {name: np.ascontiguousarray(array, np.float32) for name, array in tensors.items()}
        for name, array in held.items():
            lib.kokoro_tensor(self._handle, name.encode(), array.ctypes.data, array.size)
        tokens = len(held["text_encoder.embedding.weight"])
        if (reason := lib.kokoro_build(self._handle, tokens, threads, int(narrow))) is not None:
            raise ValueError(reason.decode())

    def speak(self, ids: list[int], style: np.ndarray, speed: float, noise: Callable[[int], np.ndarray],
              gap: Gap | None = None) -> tuple[np.ndarray, np.ndarray]:
        if style.size != 2 * STYLE_DIM:
            raise ValueError(f"a style has {2 * STYLE_DIM} numbers, not {style.size}")
        gap = gap or Gap()
        tokens, row = np.asarray(ids, np.int64), np.ascontiguousarray(style, np.float32)
        durations = np.empty(len(tokens), np.int64)
        frames = self._run(self._lib.kokoro_plan, gap, tokens.ctypes.data, len(tokens), row.ctypes.data, speed,
                           durations.ctypes.data)
        white = np.ascontiguousarray(noise(frames * SAMPLES_PER_FRAME), np.float32)
        samples = np.empty(len(white), np.float32)
        self._run(self._lib.kokoro_speak, gap, white.ctypes.data, samples.ctypes.data)
        for aside_only in (1, 0):
            if self._lib.kokoro_bytes(self._handle) > KEPT_MEMORY:
                self._lib.kokoro_drop(self._handle, aside_only)
        return samples, durations

    def _run(self, function: Callable[..., int], gap: Gap, *arguments) -> int:
        """What the function returns. What is raised in the gap ends it and is raised here: ctypes would swallow it."""
        raised: list[BaseException] = []

        def leave() -> int:
            try:
                gap()
            except BaseException as error:
                raised.append(error)
            return len(raised)

        returned = function(self._handle, *arguments, gap.wanted, LEAVE(leave))
        if raised:
            raise raised.pop()
        if returned < 0:
            raise MemoryError("no memory for this text")
        return returned

    def rest(self) -> None:
        self._lib.kokoro_drop(self._handle, 0)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.kokoro_free(self._handle)
            self._handle = None
