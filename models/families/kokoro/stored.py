"""A safetensors file of float32 tensors as arrays that lie in the file: read where they are used, held by nobody."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def mapped(file: Path) -> dict[str, np.ndarray]:
    """Read-only arrays by name. The format: 8 bytes of length, a JSON header with each tensor's dtype, shape and place,
    then the numbers (safetensors' documentation). Raises ValueError for anything else than whole float32 tensors."""
    whole = np.memmap(file, np.uint8, "r")
    length = int.from_bytes(whole[:8].tobytes(), "little")
    header = json.loads(whole[8: 8 + length].tobytes())
    numbers = whole[8 + length:]
    arrays = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        begin, end = about["data_offsets"]
        if about["dtype"] != "F32" or end > len(numbers):
            raise ValueError(f"{name} is not a whole float32 tensor")
        arrays[name] = numbers[begin:end].view("<f4").reshape(about["shape"])
    return arrays
