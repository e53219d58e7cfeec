"""In which number format the backbone is kept."""
from __future__ import annotations

from models.errors import SpeechError
from models.families.device import precision_of
from models.families.protocol import ModelSpec


def storage_of(spec: ModelSpec, device: str) -> str:
    """The format of the backbone's matrices: "int8" where the spec wants them quantised, else the precision.

    Raises SpeechError("config_invalid"): the package quantises for CPUs only.
    """
    if not spec.options.get("quantize", False):
        return precision_of(spec.precision, device)
    if device != "cpu":
        raise SpeechError("config_invalid", where=f"[[models]] {spec.id}", name="pocket_tts.quantize",
                          expected='false, or the device "cpu"')
    return "int8"
