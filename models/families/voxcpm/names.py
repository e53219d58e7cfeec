"""Published checkpoints by the names used here."""
from __future__ import annotations

from dataclasses import dataclass

LIBRARIES = 640 << 20  # bytes that the imported packages themselves hold, torch included


@dataclass(frozen=True)
class Published:
    """repo: on the model hub. parameters and vae_parameters: rounded, from the model cards."""

    repo: str
    parameters: float
    vae_parameters: float


CHECKPOINTS = {
    "voxcpm-0.5b": Published("openbmb/VoxCPM-0.5B", 0.65e9, 0.09e9),
    "voxcpm-1.5": Published("openbmb/VoxCPM1.5", 0.80e9, 0.10e9),
    "voxcpm-2": Published("openbmb/VoxCPM2", 2.30e9, 0.11e9),
}
DEFAULT = "voxcpm-1.5"
