"""The torch network as an engine: on a GPU, and on a CPU that the C++ could not be compiled for."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from models.families.kokoro import checkpoint
from models.families.kokoro.network import KokoroNetwork
from models.gaps import Gap


class TorchEngine:
    """See `models.families.kokoro.engine.Engine`."""

    def __init__(self, tensors: dict[str, Tensor], where: str, precision: str):
        self._where = torch.device(where)
        self._network = empty_network()
        self._network.load_state_dict(tensors, assign=True)
        self._network.requires_grad_(False).eval().to(self._where)
        self._network.decoder.narrow(getattr(torch, precision))

    @classmethod
    def load(cls, file: Path, where: str, precision: str) -> TorchEngine:
        """Raises CheckpointError for a file that holds something else."""
        return cls(checked(file), where, precision)

    def speak(self, ids: list[int], style: np.ndarray, speed: float, noise: Callable[[int], np.ndarray],
              gap: Gap | None = None) -> tuple[np.ndarray, np.ndarray]:
        spoken = self._network(
            torch.tensor([ids], device=self._where), torch.from_numpy(style).unsqueeze(0).to(self._where), speed,
            lambda samples: torch.from_numpy(noise(samples)).to(self._where),
        )
        return spoken.samples.cpu().numpy(), spoken.durations.cpu().numpy()

    def rest(self) -> None:
        if self._where.type == "cuda":
            torch.cuda.empty_cache()


def checked(file: Path) -> dict[str, Tensor]:
    """A checkpoint's tensors by the network's names. Raises CheckpointError, or what reading a broken file raises."""
    tensors = checkpoint.read(file)
    checkpoint.check(tensors, empty_network().state_dict())
    return tensors


def empty_network() -> KokoroNetwork:
    """The network without memory for its weights."""
    with torch.device("meta"):
        return KokoroNetwork()
