"""The parts of a voice on disk, made and checked once: home()/vits/SHA256-FORMAT/."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

from models.errors import SpeechError
from models.families.vits.piper import PiperVoice
from models.families.vits.reach import reach
from models.families.vits.split import DURATION_NOISE, NOISE, Cut, NotVits, Part, cut, without_outputs
from models.folders import making, standing
from models.weights import home

FORMAT = 4  # raise it when the parts change
EXACT = 1e-4  # largest difference between windows and the whole that passes for float noise
PROBE = (25, 81)  # phoneme ids of the two probing runs


@dataclass(frozen=True)
class StageLayout:
    """source: the input that is the output of the stage before, None for the first. context: columns of its moving
    inputs a window needs on either side, None where only the whole will do. rate: output columns per input column."""

    file: str
    inputs: list[str]
    output: str
    source: str | None
    context: int | None
    rate: int


@dataclass(frozen=True)
class Layout:
    """How the stages fit together; kept as JSON beside them.

    moving: the encoder's outputs with one column per frame; its others hold for the whole segment. duration_shape:
    shape of the duration noise, 0 standing for the number of phoneme ids, empty where there is none; noise_channels:
    rows of the first stage's noise. durations: the encoder's output with the frames of each phoneme id, "" without one.
    """

    inputs: list[str]
    encoder_outputs: list[str]
    moving: list[str]
    duration_shape: list[int]
    noise_channels: int
    stages: list[StageLayout]
    durations: str = ""


def prepare(voice: PiperVoice, model: str, progress: Callable[[str], None]) -> tuple[Path, Layout]:
    """The folder with the encoder and the stages, made if need be. Raises SpeechError("weights_broken")."""
    with voice.file.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    folder = home() / "vits" / f"{digest}-{FORMAT}-ort{ort.__version__}"
    if not standing(folder):
        progress(f"splitting {voice.name} into stages")
        try:
            with making(folder) as work:
                _make(voice, work)
        except SpeechError:
            raise
        except Exception as error:  # onnx and onnxruntime raise many kinds for a file that is not what it should be
            raise SpeechError(
                "weights_broken", "path", model=model, path=voice.file, reason=str(error).strip().splitlines()[0],
                advice="copy the voice again, or use one exported by Piper",
            ) from error
    kept = json.loads((folder / "layout.json").read_text("utf-8"))
    return folder, Layout(**kept | {"stages": [StageLayout(**stage) for stage in kept["stages"]]})


def _make(voice: PiperVoice, folder: Path) -> None:
    parts = cut(onnx.load(str(voice.file)))
    encoder = _session(parts.encoder)
    runs = [_probe(parts, encoder, count, bool(voice.speakers)) for count in PROBE]
    frames = [values[parts.noise_like].shape[-1] for values in runs]
    duration_shape = _duration_shape(parts, runs)
    moving = [name for name in parts.encoder_outputs
              if all(values[name].ndim == 3 and values[name].shape[-1] == n for values, n in zip(runs, frames))]
    if not moving or frames[0] == frames[1]:
        raise NotVits("its encoder's output does not follow the length of the text")
    values, count = runs[1], frames[1]
    channels = values[parts.noise_like].shape[1]
    values[NOISE] = np.random.default_rng(0).standard_normal((1, channels, count), np.float32)
    stages = []
    for number, part in enumerate(parts.parts):
        file = f"stage{number}.onnx"
        stages.append(_stage(part, file, {*moving, NOISE, part.source} & set(part.inputs), values, count))
        onnx.save(part.model, str(folder / file))
        count *= stages[-1].rate
    layout = Layout(inputs=parts.inputs, encoder_outputs=parts.encoder_outputs, moving=moving,
                    duration_shape=duration_shape, noise_channels=channels, stages=stages,
                    durations=parts.durations if _lasting(parts, runs, frames) else "")
    _session(without_outputs(parts.encoder, parts.probes), save=folder / "encoder.onnx")
    (folder / "layout.json").write_text(json.dumps(asdict(layout), indent=1), "utf-8")


def _session(part: onnx.ModelProto, save: Path | None = None) -> ort.InferenceSession:
    """`save` keeps the graph as optimised, short of what only this kind of processor can run."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    if save is not None:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(save)
    return ort.InferenceSession(part.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _probe(parts: Cut, encoder: ort.InferenceSession, count: int, speakers: bool) -> dict[str, np.ndarray]:
    """One run of the encoder on `count` phoneme ids without noise: every value by its name."""
    values = {
        "input": np.ones((1, count), np.int64), "input_lengths": np.array([count], np.int64),
        "scales": np.array([0.667, 1.0, 0.8], np.float32),
    }
    if speakers or "sid" in parts.inputs:
        values["sid"] = np.zeros(1, np.int64)
    feed = {name: values[name] for name in parts.inputs}
    if parts.duration_like is not None:
        probe = {DURATION_NOISE: np.zeros((1, 2, count), np.float32)}
        feed |= probe
    names = [item.name for item in encoder.get_outputs()]
    return values | dict(zip(names, encoder.run(names, feed)))


def _duration_shape(parts: Cut, runs: list[dict[str, np.ndarray]]) -> list[int]:
    if parts.duration_like is None:
        return []
    first, second = (values[parts.duration_like].shape for values in runs)
    return [0 if (a, b) == PROBE else a for a, b in zip(first, second)]


def _lasting(parts: Cut, runs: list[dict[str, np.ndarray]], frames: list[int]) -> bool:
    """Whether the durations found are that: one per phoneme id, and together the number of frames."""
    return parts.durations is not None and all(
        values[parts.durations].size == count and round(float(values[parts.durations].sum())) == total
        for values, count, total in zip(runs, PROBE, frames))


def _stage(part: Part, file: str, moving: set[str], values: dict[str, np.ndarray], count: int) -> StageLayout:
    """Runs the part whole, keeps its output in `values`, and tries a window with the context the graph asks for: only
    if its middle agrees with the whole is the context believed."""
    session = _session(part.model)

    def run(low: int, high: int) -> np.ndarray:
        feed = {name: values[name][..., low:high] if name in moving else values[name] for name in part.inputs}
        return session.run(None, feed)[0]

    whole = run(0, count)
    rate = (whole.shape[-1] if whole.ndim == 3 else whole.size) // count
    values[part.output] = whole
    found = reach(part.model.graph, moving, part.output)
    context = None if found is None else found.context
    if context is not None:
        start, end = count // 3, count - count // 3
        low, high = max(0, start - context), min(count, end + context)
        middle = run(low, high).reshape(-1, (high - low) * rate)[:, (start - low) * rate:(end - low) * rate]
        if np.abs(whole.reshape(-1, count * rate)[:, start * rate:end * rate] - middle).max() > EXACT:
            context = None
    return StageLayout(file, part.inputs, part.output, part.source, context, rate)
