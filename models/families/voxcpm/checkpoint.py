"""A VoxCPM checkpoint on disk: what belongs to it, where it comes from, how much memory it will need."""
from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path

from models.errors import SpeechError
from models.families.device import device_of, precision_of
from models.families.protocol import ModelSpec
from models.families.voxcpm.names import CHECKPOINTS, DEFAULT, LIBRARIES
from models.hub import hub_folder

ROOM = "voxcpm"
PATTERNS = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "model.safetensors",
            "pytorch_model.bin", "audiovae.safetensors", "audiovae.pth")
WEIGHTS, VAE = ("model.safetensors", "pytorch_model.bin"), ("audiovae.safetensors", "audiovae.pth")
ARCHITECTURES = ("voxcpm", "voxcpm2")
ADVICE = "download the checkpoint again, whole, or give another folder as `path` in config.toml"
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


@dataclass(frozen=True)
class Checkpoint:
    """weights, vae: the files with the language model and with the audio VAE. config: config.json as it is."""

    folder: Path
    weights: Path
    vae: Path
    config: dict

    @property
    def architecture(self) -> str:
        return str(self.config.get("architecture", "voxcpm")).lower()


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    """The folder of the spec's checkpoint, downloaded if it has to be. Raises SpeechError("weights_missing")."""
    if spec.path is not None:
        return open_checkpoint(spec.path, spec.id).folder
    repo = CHECKPOINTS[spec.options.get("checkpoint", DEFAULT)].repo
    return hub_folder(repo, None, PATTERNS, ROOM, spec.id, progress)


def open_checkpoint(folder: Path, model: str) -> Checkpoint:
    """Check that `folder` is a checkpoint. Raises SpeechError("weights_broken") saying what is missing."""
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise broken(model, folder, "there is no such folder", "give the folder of a VoxCPM checkpoint as `path`")
    missing = [" or ".join(names) for names in (("config.json",), ("tokenizer.json",), WEIGHTS, VAE)
               if not any((folder / name).is_file() for name in names)]
    if missing:
        raise broken(model, folder, f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise broken(model, folder, f"config.json is not valid JSON: {error}") from error
    first = {names: next(folder / name for name in names if (folder / name).is_file()) for names in (WEIGHTS, VAE)}
    checkpoint = Checkpoint(folder, first[WEIGHTS], first[VAE], config if isinstance(config, dict) else {})
    if checkpoint.architecture not in ARCHITECTURES or "lm_config" not in checkpoint.config:
        raise broken(model, folder, "its config.json is not of a VoxCPM model",
                     f"use a checkpoint whose architecture is {' or '.join(ARCHITECTURES)}")
    return checkpoint


def broken(model: str, path: Path, reason: str, advice: str = ADVICE) -> SpeechError:
    return SpeechError("weights_broken", model=model, path=path, reason=reason, advice=advice)


def estimate(spec: ModelSpec) -> int:
    """Bytes the loaded model will hold, from file headers or, before the download, from the published sizes."""
    each = BYTES[precision_of(spec.precision, device_of(spec.device, spec.id))]
    published = CHECKPOINTS[spec.options.get("checkpoint", DEFAULT)]
    if spec.path is None:
        return int(published.parameters * each + published.vae_parameters * 4 + LIBRARIES)
    checkpoint = open_checkpoint(spec.path, spec.id)
    numbers = _numbers(checkpoint.weights)
    return int(numbers * each + _numbers(checkpoint.vae) * 4 + _cache_numbers(checkpoint.config) * each + LIBRARIES)


def _numbers(file: Path) -> int:
    """How many numbers a weights file holds; a pickled one is taken to hold bfloat16 (audio VAEs: float32)."""
    size = file.stat().st_size
    if file.suffix != ".safetensors":
        return size // (4 if file.name in VAE else 2)
    with file.open("rb") as stream:
        header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    return sum(prod(entry["shape"]) for name, entry in header.items() if name != "__metadata__")


def _cache_numbers(config: dict) -> int:
    """Keys and values of both language models at full length."""
    lm = config["lm_config"]
    head = lm.get("kv_channels") or lm["hidden_size"] // lm["num_attention_heads"]
    layers = lm["num_hidden_layers"] + config.get("residual_lm_num_layers", 6)
    return 2 * layers * lm["num_key_value_heads"] * head * config.get("max_length", 4096)
