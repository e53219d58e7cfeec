from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.families.kokoro.stored import mapped


def test_what_safetensors_wrote_is_read(tmp_path):
    wanted = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b.weight": np.ones((1, 1, 4), np.float32),
              "c": np.zeros(0, np.float32)}
    save_file(wanted, tmp_path / "x.safetensors", metadata={"format": "pt"})
    read = mapped(tmp_path / "x.safetensors")
    assert read.keys() == wanted.keys() and all(np.array_equal(read[name], wanted[name]) for name in wanted)


def test_other_types_and_half_a_file_are_refused(tmp_path):
    file = tmp_path / "x.safetensors"
    save_file({"a": np.zeros(4, np.float16)}, file)
    with pytest.raises(ValueError):
        mapped(file)
    save_file({"a": np.zeros(400, np.float32)}, file)
    file.write_bytes(file.read_bytes()[:900])
    with pytest.raises(ValueError):
        mapped(file)
