"""The streaming state of one piece of speech, in buffers that are used again for the next one."""
from __future__ import annotations

import torch

GROWTH = 256  # positions by which the caches grow


class Working:
    """layers: the package's stateful modules by name. state: what they read and write, as the package lays it out."""

    def __init__(self, layers: dict[str, torch.nn.Module]):
        self._layers = layers
        self._room = 0
        self.state: dict[str, dict[str, torch.Tensor]] = {}

    def reset(self, positions: int) -> None:
        """As fresh, with room for so many positions. A cache's old content stays: nothing reads beyond its offset."""
        if positions > self._room:
            self._room = -(-positions // GROWTH) * GROWTH
            self.state = {name: layer.init_state(1, sequence_length=self._room) for name, layer in self._layers.items()}
            return
        for fields in self.state.values():
            for name, tensor in fields.items():
                if name == "first":
                    tensor.fill_(True)
                elif name != "cache":
                    tensor.zero_()

    def advance(self, positions: int) -> None:
        for fields in self.state.values():
            if "offset" in fields:
                fields["offset"] += positions
