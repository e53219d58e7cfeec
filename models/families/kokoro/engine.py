"""The two ways to run the network: our C++ on a CPU, torch everywhere else. Same weights, same noise, same answer."""
from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import torch
from safetensors import SafetensorError
from torch import Tensor

from models.errors import SpeechError
from models.families.kokoro import checkpoint, weights
from models.families.kokoro.network import SAMPLES_PER_FRAME, STYLE_DIM, KokoroNetwork, Spoken
from models.families.kokoro.native import build

KEPT_MEMORY = 160 * 2**20  # bytes of working memory kept between segments: some 15 seconds of speech
MAX_THREADS = 8


class Engine(Protocol):
    """One utterance at a time, always from the same thread."""

    def speak(self, ids: Tensor, style: Tensor, speed: float, noise: torch.Generator) -> Spoken:
        """ids int64 [1, n], boundaries included; style float32 [1, 256]; both on the engine's device."""

    def rest(self) -> None:
        """Give working memory back."""


class TorchEngine:
    def __init__(self, tensors: dict[str, Tensor], where: torch.device, dtype: torch.dtype):
        self._network = empty_network()
        self._network.load_state_dict(tensors, assign=True)
        self._network.requires_grad_(False).eval().to(where)
        self._network.decoder.narrow(dtype)

    def speak(self, ids: Tensor, style: Tensor, speed: float, noise: torch.Generator) -> Spoken:
        return self._network(ids, style, speed, noise)

    def rest(self) -> None:
        if next(self._network.parameters()).is_cuda:
            torch.cuda.empty_cache()


class NativeEngine:
    """The C++ network. narrow: the decoder in bfloat16; `lib.kokoro_narrow_kind()` tells whether the CPU can."""

    def __init__(self, lib: ctypes.CDLL, tensors: Mapping[str, Tensor], narrow: bool, threads: int):
        self._lib, self._handle = lib, lib.kokoro_new()
        kept = {name: tensor.contiguous() for name, tensor in tensors.items()}
        for name, tensor in kept.items():
            lib.kokoro_tensor(self._handle, name.encode(), tensor.data_ptr(), tensor.numel())
        tokens = kept["text_encoder.embedding.weight"].shape[0]
        if (reason := lib.kokoro_build(self._handle, tokens, threads, int(narrow))) is not None:
            raise checkpoint.CheckpointError(reason.decode())

    def speak(self, ids: Tensor, style: Tensor, speed: float, noise: torch.Generator) -> Spoken:
        ids, style = ids.contiguous(), style.contiguous()
        if ids.dtype != torch.int64 or style.dtype != torch.float32 or style.numel() != 2 * STYLE_DIM:
            raise TypeError("ids must be int64, style float32 [1, 256]")
        durations = torch.empty(ids.shape[1], dtype=torch.int64)
        frames = self._lib.kokoro_plan(
            self._handle, ids.data_ptr(), ids.shape[1], style.data_ptr(), speed, durations.data_ptr()
        )
        white = torch.randn((1, frames * SAMPLES_PER_FRAME), generator=noise)
        samples = torch.empty(frames * SAMPLES_PER_FRAME)
        self._lib.kokoro_speak(self._handle, white.data_ptr(), samples.data_ptr())
        if self._lib.kokoro_bytes(self._handle) > KEPT_MEMORY:
            self.rest()
        return Spoken(samples, durations)

    def rest(self) -> None:
        self._lib.kokoro_drop(self._handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.kokoro_free(self._handle)
            self._handle = None


def empty_network() -> KokoroNetwork:
    """The network without memory for its weights."""
    with torch.device("meta"):
        return KokoroNetwork()


def load(file: Path, where: torch.device, dtype: torch.dtype, progress: Callable[[str], None]) -> Engine:
    """The best engine for a checkpoint file. Raises SpeechError("weights_broken")."""
    try:
        tensors = checkpoint.read(file)
        checkpoint.check(tensors, empty_network().state_dict())
        lib = build.library(progress) if where.type == "cpu" else None
        if lib is not None and (dtype is torch.float32 or (dtype is torch.bfloat16 and lib.kokoro_narrow_kind())):
            threads = min(torch.get_num_threads(), MAX_THREADS)
            return NativeEngine(lib, tensors, dtype is torch.bfloat16, threads)
        return TorchEngine(tensors, where, dtype)
    except (checkpoint.CheckpointError, OSError, SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError,
            AttributeError, KeyError) as error:
        raise SpeechError("weights_broken", model="kokoro", path=file, reason=error, advice=weights.REMEDY) from error
