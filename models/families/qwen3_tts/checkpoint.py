"""A Qwen3-TTS checkpoint on disk: what belongs to it, where it comes from, how much memory it will need."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

from models.errors import SpeechError
from models.families.device import device_of, precision_of
from models.families.protocol import ModelSpec
from models.families.qwen3_tts.names import CHECKPOINTS, DEFAULT, LIBRARIES, ON_CUDA, TAGS
from models.hub import hub_folder

ROOM = "qwen3_tts"
KINDS = ("base", "custom_voice", "voice_design")
CODEC = "qwen3_tts_tokenizer_12hz"
INDEX, WEIGHTS = "model.safetensors.index.json", "model.safetensors"
PATTERNS = ("*.json", "merges.txt", "*.safetensors", "speech_tokenizer/*")
NEEDED = ("config.json", "generation_config.json", "tokenizer_config.json", "vocab.json", "merges.txt",
          "speech_tokenizer/config.json", "speech_tokenizer/preprocessor_config.json")
ADVICE = "download the checkpoint again, whole, or give another folder as `path` in config.toml"
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
POSITIONS = 4096  # of the talker's context, for which keys and values are reckoned in


@dataclass(frozen=True)
class Checkpoint:
    """kind: one of KINDS. languages: tag -> its name in the config. speakers: id -> its dialect's name or ""."""

    folder: Path
    config: Mapping

    @property
    def kind(self) -> str:
        return self.config["tts_model_type"]

    @property
    def instructed(self) -> bool:
        """Whether it follows an instruction: voice-design, and custom-voice but for the 0.6B one (its model card)."""
        large = self.config.get("tts_model_size") != "0b6"
        return self.kind == "voice_design" or (self.kind == "custom_voice" and large)

    @property
    def talker(self) -> Mapping:
        return self.config["talker_config"]

    @property
    def positions(self) -> int:
        """Positions of the talker's context: prompt and frames together."""
        return self.talker.get("max_position_embeddings", 32768)

    @property
    def languages(self) -> dict[str, str]:
        return {TAGS[name]: name for name in self.talker.get("codec_language_id", {}) if name in TAGS}

    @property
    def speakers(self) -> dict[str, str]:
        dialects = self.talker.get("spk_is_dialect") or {}
        return {name: dialects.get(name) or "" for name in self.talker.get("spk_id") or {}}

    @property
    def talker_files(self) -> list[Path]:
        return weight_files(self.folder)

    @property
    def codec_files(self) -> list[Path]:
        return weight_files(self.folder / "speech_tokenizer")

    @cached_property
    def mark(self) -> str:
        """Tells checkpoints apart by content: configuration, tensor tables and samples of the numbers themselves."""
        hasher = hashlib.sha256(json.dumps(self.config, sort_keys=True).encode())
        for file in (*self.talker_files, *self.codec_files):
            size = file.stat().st_size
            hasher.update(str(size).encode())
            with file.open("rb") as stream:
                for part in range(16):
                    stream.seek(part * size // 16)
                    hasher.update(stream.read(65536))
        return hasher.hexdigest()


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    """The folder of the spec's checkpoint, downloaded if it has to be.

    Raises SpeechError("weights_missing"), and as `open_checkpoint`.
    """
    folder = spec.path
    if folder is None:
        repo = CHECKPOINTS[spec.options.get("checkpoint", DEFAULT)].repo
        folder = hub_folder(repo, None, PATTERNS, ROOM, spec.id, progress)
    return open_checkpoint(folder, spec.id).folder


def open_checkpoint(folder: Path, model: str) -> Checkpoint:
    """Check that `folder` is a whole checkpoint. Raises SpeechError("weights_broken") saying what is wrong with it."""
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise broken(model, folder, "there is no such folder", "give the folder of a Qwen3-TTS checkpoint as `path`")
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    for part in (folder, folder / "speech_tokenizer"):
        if not (part / INDEX).is_file() and not (part / WEIGHTS).is_file():
            missing.append((part / WEIGHTS).relative_to(folder).as_posix())
    if missing:
        raise broken(model, folder, f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    config = _read(folder / "config.json", folder, model)
    codec = _read(folder / "speech_tokenizer" / "config.json", folder, model)
    if config.get("model_type") != "qwen3_tts" or not isinstance(config.get("talker_config"), dict):
        raise broken(model, folder, "its config.json is not of a Qwen3-TTS model")
    if config.get("tts_model_type") not in KINDS:
        raise broken(model, folder, f"tts_model_type is {config.get('tts_model_type')}, not one of {', '.join(KINDS)}")
    if codec.get("model_type") != CODEC:
        raise broken(model, folder, "its codec is not the 12 Hz one")
    checkpoint = Checkpoint(folder, config)
    absent = [file for file in (*checkpoint.talker_files, *checkpoint.codec_files) if not file.is_file()]
    if absent:
        raise broken(model, folder, f"missing: {', '.join(str(file.relative_to(folder)) for file in absent)}")
    if not checkpoint.languages:
        raise broken(model, folder, "its config.json names no language (codec_language_id)")
    return checkpoint


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of one part, by its index if it is in several."""
    index = folder / INDEX
    if not index.is_file():
        return [folder / WEIGHTS]
    return [folder / name for name in sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))]


def tensor_shapes(files: list[Path]) -> dict[str, tuple[int, ...]]:
    """Name -> shape of every tensor, from the files' headers alone. Raises ValueError for what is no such file."""
    shapes: dict[str, tuple[int, ...]] = {}
    for file in files:
        with file.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            if not 2 <= size <= 100_000_000:
                raise ValueError(f"{file.name} is not a safetensors file")
            header = json.loads(stream.read(size))
        end = max((entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0)
        if file.stat().st_size < 8 + size + end:
            raise ValueError(f"{file.name} is cut short")
        shapes |= {name: tuple(entry["shape"]) for name, entry in header.items() if name != "__metadata__"}
    return shapes


def estimate_bytes(spec: ModelSpec) -> int:
    """Bytes the loaded model will hold: by the files' headers, or before a download by the published sizes."""
    each = BYTES[precision_of(spec.precision, device_of(spec.device, spec.id), ON_CUDA)]
    if spec.path is None:
        published = CHECKPOINTS[spec.options.get("checkpoint", DEFAULT)]
        return int(published.talker * each + published.codec * 4 + POSITIONS * 28 * 2 * 8 * 128 * each + LIBRARIES)
    checkpoint = open_checkpoint(spec.path, spec.id)
    talker = sum(prod(shape) for shape in tensor_shapes(checkpoint.talker_files).values())
    codec = sum(prod(shape) for shape in tensor_shapes(checkpoint.codec_files).values())
    return int(talker * each + codec * 4 + _cache_numbers(checkpoint) * each + LIBRARIES)


def broken(model: str, path: Path, reason: str, advice: str = ADVICE) -> SpeechError:
    return SpeechError("weights_broken", model=model, path=path, reason=reason, advice=advice)


def _cache_numbers(checkpoint: Checkpoint) -> int:
    talker = checkpoint.talker
    width = talker.get("head_dim") or talker["hidden_size"] // talker["num_attention_heads"]
    positions = min(POSITIONS, checkpoint.positions)
    return positions * 2 * talker["num_hidden_layers"] * talker["num_key_value_heads"] * width


def _read(path: Path, folder: Path, model: str) -> dict:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise broken(model, folder, f"{path.relative_to(folder)} is not valid JSON: {error}") from error
    return data if isinstance(data, dict) else {}
