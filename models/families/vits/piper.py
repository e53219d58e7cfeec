"""A Piper voice on disk: NAME.onnx with NAME.onnx.json beside it (the format of rhasspy/piper and its successor)."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from models.errors import SpeechError

ADVICE = "a Piper voice is a file NAME.onnx with its NAME.onnx.json beside it, so copy both into the folder"
REQUIRED = ("audio", "phoneme_id_map")
PHONEME_TYPES = ("espeak", "text")
MEDIUM_BYTES = 61 << 20  # of a voice of medium quality, for one that is not here yet
WINDOW_BYTES = 64 << 20
PAD, BOS, EOS = "_", "^", "$"


@dataclass(frozen=True)
class PiperVoice:
    """What the JSON file says. language: BCP 47 with region ("en-us"); speakers: name -> number, empty for one."""

    name: str
    file: Path
    sample_rate: int
    language: str
    phoneme_type: str
    espeak_voice: str
    phoneme_ids: dict[str, list[int]]
    speakers: dict[str, int] = field(default_factory=dict)
    vowel_clusters: tuple[str, ...] = ()
    noise_scale: float = 0.667
    length_scale: float = 1.0
    noise_w: float = 0.8

    @property
    def title(self) -> str:
        """The name without what Piper puts around it: "joe" of "en_US-joe-medium"."""
        parts = self.name.split("-")
        return parts[1] if len(parts) == 3 else self.name

    @property
    def space(self) -> int | None:
        """The id between two words, if there is one."""
        return next(iter(self.phoneme_ids.get(" ", ())), None)

    @property
    def tag(self) -> str:
        """The primary language tag: "en"."""
        return self.language.split("-")[0]


def find_voices(path: Path, model: str) -> list[PiperVoice]:
    """The voices in a folder (sorted by name), or the one whose `.onnx` file is given.

    Raises SpeechError("weights_broken") saying what is missing, in the name of `model`.
    """
    path = Path(path).expanduser()
    if not path.exists():
        raise _broken(model, path, "there is no such file or folder")
    if path.is_file():
        if path.suffix != ".onnx":
            raise _broken(model, path, "this is not an .onnx file")
        files = [path]
    else:
        files = sorted(path.glob("*.onnx"))
        if not files:
            raise _broken(model, path, "there is no .onnx file in it")
    voices = [read_voice(file, model) for file in files]
    rates = sorted({voice.sample_rate for voice in voices})
    if len(rates) > 1:
        raise _broken(model, path, f"its voices have different sample rates, {rates} Hz",
                      "put the voices of each rate into a folder of their own, each with its own [[models]] entry")
    return voices


def estimate_bytes(path: Path, slots: int) -> int:
    """Memory a session will hold, in bytes, once as many of the voices at `path` as it keeps have spoken: twice a
    file's size (onnxruntime keeps weights in its own layout too) and the working memory of its windows."""
    files = [path] if path.is_file() else path.glob("*.onnx")
    sizes = sorted((file.stat().st_size for file in files), reverse=True) or [MEDIUM_BYTES]
    return sum(2 * size + WINDOW_BYTES for size in sizes[:max(1, slots)])


def read_voice(file: Path, model: str) -> PiperVoice:
    """One voice from its `.onnx` path. Raises SpeechError("weights_broken")."""
    config_file = file.with_name(file.name + ".json")
    if not config_file.is_file():
        raise _broken(model, file.parent, f"{config_file.name} is missing")
    try:
        config = json.loads(config_file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _broken(model, config_file, f"it is not valid JSON: {error}") from error
    if not isinstance(config, dict):
        raise _broken(model, config_file, "it does not hold a JSON object")
    for key in REQUIRED:
        if key not in config:
            raise _broken(model, config_file, f"the key {key} is missing")
    kind = config.get("phoneme_type") or "espeak"
    if kind not in PHONEME_TYPES:
        raise _broken(model, config_file, f"its phoneme type {kind} is not supported",
                      f"use a voice of the types {' or '.join(PHONEME_TYPES)}")
    try:
        return _voice(file, config, kind)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _broken(model, config_file, f"a key is missing or of the wrong type: {error!r}") from error


def _voice(file: Path, config: dict, kind: str) -> PiperVoice:
    espeak_voice = (config.get("espeak") or {}).get("voice", "")
    language = (config.get("language") or {}).get("code") or espeak_voice
    if not language:
        raise ValueError("neither language.code nor espeak.voice is given")
    ids = {symbol: [int(i) for i in numbers] for symbol, numbers in config["phoneme_id_map"].items()}
    for symbol in (PAD, BOS, EOS):
        if not ids.get(symbol):
            raise ValueError(f"phoneme_id_map has no {symbol}")
    inference = config.get("inference") or {}
    speakers = {str(name): int(number) for name, number in (config.get("speaker_id_map") or {}).items()}
    count = int(config.get("num_speakers") or 1)
    if count > 1 and not speakers:
        speakers = {str(number): number for number in range(count)}
    return PiperVoice(
        name=file.stem, file=file, sample_rate=int(config["audio"]["sample_rate"]),
        language=str(language).replace("_", "-").lower(), phoneme_type=kind,
        espeak_voice=str(espeak_voice or language), phoneme_ids=ids, speakers=speakers if count > 1 else {},
        vowel_clusters=tuple("".join(cluster) for cluster in config.get("vowel_clusters") or ()),
        noise_scale=float(inference.get("noise_scale", 0.667)),
        length_scale=float(inference.get("length_scale", 1.0)), noise_w=float(inference.get("noise_w", 0.8)),
    )


def _broken(model: str, path: Path, reason: str, advice: str = ADVICE) -> SpeechError:
    return SpeechError("weights_broken", "path", model=model, path=path, reason=reason, advice=advice)
