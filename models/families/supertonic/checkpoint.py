"""A Supertonic checkpoint on disk: four graphs, their settings and the voice styles, in the official layout."""
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from models.errors import SpeechError
from models.families.protocol import ModelSpec

ROOM = "supertonic"
GRAPHS = ("duration_predictor", "text_encoder", "vector_estimator", "vocoder")
FILES = ("onnx/tts.json", "onnx/unicode_indexer.json", *(f"onnx/{name}.onnx" for name in GRAPHS))
STYLES = "voice_styles"
# languages by checkpoint (model cards); where several share a script, the one with most speakers first: it is the guess
LANGUAGES = {
    "supertonic": ("en",),
    "supertonic-2": ("en", "ko", "es", "pt", "fr"),
    "supertonic-3": ("en", "es", "fr", "de", "it", "pt", "ja", "ko", "ru", "hi", "ar", "id", "tr", "vi", "pl", "nl", "uk",
                     "ro", "el", "cs", "hu", "sv", "bg", "da", "fi", "sk", "hr", "lt", "sl", "lv", "et"),
}
ADVICE = "a checkpoint is a folder with onnx/ and voice_styles/ as the model hub has them, so copy both"
EXPECTED_BYTES = 400 << 20  # of the released graphs, for weights that are not here yet
GROWTH = 1.3  # what onnxruntime's prepacked copies add to the files' size
WORKING_BYTES = 96 << 20


def find(spec: ModelSpec, progress: Callable[[str], None] = lambda line: None) -> Path:
    """The folder of the spec's `path`, else the released checkpoint, fetched if need be.

    Raises SpeechError: weights_missing, weights_broken, package_missing.
    """
    if spec.path is not None:
        return _checked(spec, Path(spec.path))
    from models.hub import hub_folder

    released = package(spec.id).MODEL_CONFIGS[name_of(spec)]
    patterns = ["onnx/*", f"{STYLES}/*.json"]
    return _checked(spec, hub_folder(released["repo"], released["revision"], patterns, ROOM, spec.id, progress))


def name_of(spec: ModelSpec) -> str:
    return spec.options.get("checkpoint", "supertonic-3")


def package(model: str):
    """The official package's settings. Raises SpeechError("package_missing")."""
    try:
        from supertonic import config
    except ImportError as error:
        raise SpeechError("package_missing", model=model, package=f"supertonic ({error})", family=ROOM) from error
    return config


def _checked(spec: ModelSpec, folder: Path) -> Path:
    if not folder.is_dir():
        raise broken(spec, folder, "there is no such folder")
    missing = [name for name in FILES if not (folder / name).is_file()]
    if not styles(folder):
        missing.append(f"{STYLES}/*.json")
    if missing:
        raise broken(spec, folder, f"missing there: {', '.join(missing)}")
    return folder


def styles(folder: Path) -> dict[str, Path]:
    """Voice styles by name."""
    return {file.stem: file for file in sorted((folder / STYLES).glob("*.json"))}


def settings(spec: ModelSpec, folder: Path) -> dict:
    """onnx/tts.json. Raises SpeechError("weights_broken")."""
    file = folder / "onnx" / "tts.json"
    try:
        found = json.loads(file.read_text("utf-8"))
        for section, key in (("ae", "sample_rate"), ("ae", "base_chunk_size"), ("ttl", "latent_dim"),
                             ("ttl", "chunk_compress_factor")):
            if not isinstance(found[section][key], int) or found[section][key] < 1:
                raise ValueError(f"{section}.{key} is not a whole number above 0")
    except KeyError as error:
        raise broken(spec, file, f"the key {error} is missing") from error
    except (OSError, TypeError, ValueError) as error:
        raise broken(spec, file, str(error)) from error
    return found


def estimate_bytes(spec: ModelSpec) -> int:
    """Memory a session of this checkpoint will hold, in bytes, from the files' sizes alone."""
    from models.weights import home

    if spec.path is not None:
        folders = [Path(spec.path)]
    else:
        repo = {"supertonic": "Supertone--supertonic"}.get(name_of(spec), f"Supertone--{name_of(spec)}")
        folders = sorted((home() / ROOM).glob(f"{repo}-*"))
    files = [file for folder in folders[-1:] for file in (folder / "onnx").glob("*.onnx*")]
    return round(GROWTH * (sum(file.stat().st_size for file in files) or EXPECTED_BYTES)) + WORKING_BYTES


def broken(spec: ModelSpec, path: Path, reason: str, advice: str = ADVICE) -> SpeechError:
    return SpeechError("weights_broken", "path", model=spec.id, path=path, reason=reason, advice=advice)
