"""Checkpoints of the published sizes with random weights: each is made once below READYVOICE_HOME/benchmarks."""
from __future__ import annotations

import sys
from pathlib import Path

from models.weights import home, making

SIZES = {"voxcpm-0.5b": "voxcpm", "voxcpm-1.5": "voxcpm", "voxcpm-2": "voxcpm", "pocket": "pocket_tts"}  # family by name


def checkpoint(name: str) -> Path:
    """The folder of one of SIZES."""
    folder = home() / "benchmarks" / f"{name}-random"
    if not folder.is_dir():
        print(f"making a full-size checkpoint of {name}", file=sys.stderr)
        with making(folder) as work:
            if SIZES[name] == "voxcpm":
                from tests.checkpoints.make_voxcpm import full_size

                full_size(work, name.removeprefix("voxcpm-"))
            else:
                from tests.checkpoints.make_pocket_tts import full_size

                full_size(work)
    return folder
