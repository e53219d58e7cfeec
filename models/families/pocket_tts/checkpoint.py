"""A Pocket TTS checkpoint on disk: its configuration with every file in place."""
from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from models.errors import SpeechError
from models.families.device import device_of
from models.families.pocket_tts.names import LANGUAGES
from models.families.pocket_tts.placement import storage_of
from models.families.protocol import ModelSpec
from models.hub import HubRefused, hub_folder, is_here

ROOM = "pocket_tts"
# where a configuration names files; the tokenizer's comes last
PLACES = (("weights_path",), ("flow_lm", "weights_path"), ("mimi", "weights_path"),
          ("flow_lm", "lookup_table", "tokenizer_path"))
PUBLIC = "weights_path_without_voice_cloning"
FOLDER_ADVICE = ("a checkpoint is a folder with model.safetensors and tokenizer.json, and with config.yaml unless it is a "
                 "released one named by pocket_tts.checkpoint")
WORKING_BYTES = 96 << 20  # KV caches and activations of one segment


@dataclass(frozen=True)
class Checkpoint:
    """config: the package's YAML with local files only. language: BCP 47 primary tag. voices: name -> file with the
    state of a stock voice. clones: its weights can hear a reference clip. name: as released, or the folder's."""

    name: str
    folder: Path
    config: dict[str, Any]
    language: str
    voices: dict[str, Path]
    clones: bool = True

    @property
    def weights(self) -> list[Path]:
        found = (at(self.config, place) for place in PLACES[:-1])
        return [Path(path) for path in found if path]


def at(config: dict[str, Any], place: tuple[str, ...]) -> Any:
    for key in place:
        config = config.get(key) if isinstance(config, dict) else None
    return config


def find(spec: ModelSpec, progress: Callable[[str], None] = lambda line: None) -> Checkpoint:
    """The folder of the spec's `path`, else the released checkpoint its option names, fetched if need be.

    Raises SpeechError: weights_missing, weights_broken, config_invalid, package_missing.
    """
    return _local(spec) if spec.path is not None else _released(spec, progress)


def config_folder(model: str) -> Path:
    """Where the package keeps one YAML a released checkpoint; importing the package (and torch) is not needed."""
    found = importlib.util.find_spec("pocket_tts")
    if found is None or found.origin is None:
        raise SpeechError("package_missing", model=model, package="pocket-tts", family=ROOM)
    return Path(found.origin).parent / "config"


def released(name: str, model: str) -> dict[str, Any]:
    """The package's configuration of a released checkpoint. Raises SpeechError("config_invalid")."""
    files = {file.stem: file for file in config_folder(model).glob("*.yaml")}
    if name not in files:
        near = get_close_matches(name, files, 1, 0.5)
        raise SpeechError("config_invalid", where=f"[[models]] {model}", name="pocket_tts.checkpoint",
                          expected=f"one of {', '.join(sorted(files))}" + (f" (did you mean {near[0]}?)" if near else ""))
    return yaml.safe_load(files[name].read_text("utf-8"))


def _language(spec: ModelSpec, name: str) -> str:
    wish = spec.options.get("language", "")
    return wish.lower().split("-")[0] or LANGUAGES.get(name.split("_")[0].lower(), "en")


# -- a folder

def _local(spec: ModelSpec) -> Checkpoint:
    folder = Path(spec.path)
    if folder.is_file() and folder.suffix in (".yaml", ".yml"):
        files, folder = [folder], folder.parent
    else:
        files = sorted(folder.glob("*.y*ml")) if folder.is_dir() else []
    if not folder.is_dir():
        raise broken(spec, folder, "there is no such folder")
    name = folder.name if files else spec.options.get("checkpoint", "english")
    if len(files) > 1:
        raise broken(spec, folder, f"it has several configurations ({', '.join(file.name for file in files)})",
                     "name one of these files as `path`")
    config = _read(spec, files[0]) if files else deepcopy(released(name, spec.id))
    if at(config, ("weights_path",)) is None and at(config, PLACES[1]) is None and (folder / "model.safetensors").is_file():
        config["weights_path"] = "model.safetensors"
    missing = [] if files else ["config.yaml"]
    for place in PLACES:
        reference = at(config, place)
        if reference is None:
            continue
        file = _beside(folder, str(reference))
        if file is None:
            missing.append(str(reference).split("@")[0].rsplit("/", 1)[-1])
        else:
            _set(config, place, str(file))
    if at(config, ("weights_path",)) is None and at(config, PLACES[1]) is None:
        missing.append("model.safetensors")
    if missing and missing != ["config.yaml"]:
        raise broken(spec, folder, f"missing there: {', '.join(missing)}")
    config.pop(PUBLIC, None)
    return Checkpoint(name, folder, config, _language(spec, name), _voices(folder / "embeddings"))


def _read(spec: ModelSpec, file: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise broken(spec, file, f"it is not valid YAML: {error}") from error
    if not isinstance(config, dict) or "flow_lm" not in config or "mimi" not in config:
        raise broken(spec, file, "it has no flow_lm or no mimi section")
    return config


def _beside(folder: Path, reference: str) -> Path | None:
    """The file a configuration means: as written, relative to its folder, or of that name in the folder."""
    path = Path(reference.split("@")[0])
    for candidate in (folder / path, folder / path.name):
        if "://" not in str(candidate) and candidate.is_file():
            return candidate.resolve()
    return None


def _set(config: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    for key in place[:-1]:
        config = config[key]
    config[place[-1]] = value


def _voices(folder: Path) -> dict[str, Path]:
    return {file.stem: file for file in sorted(folder.glob("*.safetensors"))} if folder.is_dir() else {}


def broken(spec: ModelSpec, path: Path, reason: str, advice: str = FOLDER_ADVICE) -> SpeechError:
    return SpeechError("weights_broken", "path", model=spec.id, path=path, reason=reason, advice=advice)


# -- a released one

def _released(spec: ModelSpec, progress: Callable[[str], None]) -> Checkpoint:
    name = spec.options.get("checkpoint", "english")
    config = deepcopy(released(name, spec.id))
    public, clones = config.pop(PUBLIC, None), True
    for place in PLACES:
        reference = at(config, place)
        if reference is None:
            continue
        try:
            file = _fetched(spec, str(reference), progress)
        except SpeechError as refused:
            if place != ("weights_path",) or public is None:
                raise
            if not isinstance(refused, HubRefused) and not _here(public):
                raise  # no answer is no refusal; but what was fetched after an earlier one serves without network too
            progress(f"without voice cloning: {refused.params['reason']}; to clone, {refused.params['advice']}")
            file, clones = _fetched(spec, public, progress), False
        _set(config, place, str(file))
    voices = _stock(spec, name, public, progress)
    folder = Path(config["weights_path"]).parent
    return Checkpoint(name, folder, config, _language(spec, name), voices, clones)


def _fetched(spec: ModelSpec, reference: str, progress: Callable[[str], None]) -> Path:
    repo, file, revision = parts(reference)
    return hub_folder(repo, revision, [file], ROOM, spec.id, progress) / file


def _here(reference: str) -> bool:
    repo, file, revision = parts(reference)
    return is_here(repo, revision, [file], ROOM)


def parts(reference: str) -> tuple[str, str, str | None]:
    """Repository, file and revision of hf://OWNER/NAME/FILE@REVISION. Raises ValueError for another kind of address."""
    if not reference.startswith("hf://"):
        raise ValueError(f"{reference} is not an hf:// address")
    owner, name, rest = reference.removeprefix("hf://").split("/", 2)
    file, _, revision = rest.partition("@")
    return f"{owner}/{name}", file, revision or None


def _stock(spec: ModelSpec, name: str, public: str | None, progress: Callable[[str], None]) -> dict[str, Path]:
    """The states of the stock voices, which lie beside the public weights."""
    if public is None:
        return {}
    repo, file, revision = parts(public)
    folder = f"{file.rsplit('/', 1)[0]}/embeddings"
    return _voices(hub_folder(repo, revision, [f"{folder}/*.safetensors"], ROOM, spec.id, progress) / folder)


# -- size

def estimate_bytes(spec: ModelSpec) -> int:
    """Memory a session of this checkpoint will hold, in bytes, without loading or fetching anything: weights (the
    backbone's matrices in the bytes their format takes), working memory and full voice slots."""
    storage = storage_of(spec, device_of(spec.device, spec.id))
    share = {"float32": 1, "int8": 4}.get(storage, 2)
    try:
        found = _local(spec) if spec.path is not None else None
        config = found.config if found else released(spec.options.get("checkpoint", "english"), spec.id)
        files = found.weights if found else []
        sizes = [size for file in files for size in tensor_bytes(file).items()]
    except (OSError, ValueError):
        sizes, config = [], {}
    weights = sum(size // share if is_matrix(name) else size for name, size in sizes)
    if not weights:
        weights = _from_shape(config, share)
    return weights + WORKING_BYTES + spec.options.get("voice_state_cache_slots", 4) * _voice_bytes(spec, config, 2 if share == 2 else 4)


def tensor_bytes(file: Path) -> dict[str, int]:
    """Bytes of each tensor, from the file's header alone. Raises ValueError when it is not a safetensors file."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 2 <= length <= 100 << 20:
            raise ValueError(f"{file} is not a safetensors file")
        header = json.loads(stream.read(length))
    return {name: entry["data_offsets"][1] - entry["data_offsets"][0]
            for name, entry in header.items() if name != "__metadata__"}


def is_matrix(name: str) -> bool:
    """Whether a tensor is one of the backbone's matrices, which take fewer bytes in half precision or int8."""
    return name.removeprefix("flow_lm.").startswith("transformer.layers.") and name.endswith(
        ("in_proj.weight", "out_proj.weight", "linear1.weight", "linear2.weight"))


def _from_shape(config: dict[str, Any], share: int) -> int:
    """From the configuration's sizes, for weights that are not here yet; the codec is taken as the released 20M."""
    shape = at(config, ("flow_lm", "transformer")) or {}
    width, layers = shape.get("d_model", 1024), shape.get("num_layers", 6)
    hidden = shape.get("dim_feedforward") or width * shape.get("hidden_scale", 4)
    flow = at(config, ("flow_lm", "flow")) or {"dim": 512, "depth": 6}
    table = (at(config, ("flow_lm", "lookup_table", "n_bins")) or 4000) * width
    backbone = layers * (4 * width * width + 2 * width * hidden)
    return 4 * backbone // share + 4 * (table + 6 * flow["depth"] * flow["dim"] ** 2 + 20_000_000)


def _voice_bytes(spec: ModelSpec, config: dict[str, Any], number_bytes: int) -> int:
    """The KV state of the longest clip the session listens to."""
    shape = at(config, ("flow_lm", "transformer")) or {}
    heads, width = shape.get("num_heads", 16), shape.get("attn_dim") or shape.get("d_model", 1024)
    wide = width // heads * (shape.get("num_kv_heads") or heads)
    frames = math.ceil(spec.options.get("reference_seconds", 30.0) * (at(config, ("mimi", "frame_rate")) or 12.5)) + 3
    return 2 * shape.get("num_layers", 6) * frames * wide * number_bytes
