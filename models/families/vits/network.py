"""A loaded voice: three onnxruntime sessions, run so that samples leave window by window."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime as ort

from models.families.vits.prepare import Layout
from models.families.vits.split import DURATION_NOISE, NOISE
from models.families.vits.windows import windows

FIRST_WINDOW, LARGEST_WINDOW = 24, 192  # frames; see benchmarks/README.md for how they were chosen
FLOW_AHEAD = 4  # the flow runs this many decoder windows at a time once the first is out


@dataclass(frozen=True)
class Scales:
    """noise: of the latent; length: 2.0 is half as fast; noise_w: of the durations."""

    noise: float
    length: float
    noise_w: float


class Network:
    """Not for more than one thread at a time."""

    def __init__(self, folder: Path, layout: Layout, threads: int, saver: bool = False):
        self.layout = layout
        self._run_options = ort.RunOptions()
        if saver:
            self._run_options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        self._encoder = _session(folder / "encoder.onnx", threads, optimised=True)
        self._flow = _session(folder / "flow.onnx", threads)
        self._decoder = _session(folder / "decoder.onnx", threads)

    def speak(self, ids: list[int], scales: Scales, speaker: int | None, rng: np.random.Generator,
              first: int = FIRST_WINDOW, largest: int = LARGEST_WINDOW) -> Iterator[np.ndarray]:
        """float32 samples of one utterance, window by window; the same sum of samples whatever the windows are."""
        values = self._encode(ids, scales, speaker, rng)
        count = values[self.layout.moving[0]].shape[-1]
        if self.layout.decoder_context is None:
            first = largest = count
        latent = Latent(self, values, count, rng)
        context = self.layout.decoder_context or 0
        for start, end in windows(count, first, largest):
            low, high = max(0, start - context), min(count, end + context)
            latent.extend_to(high, ahead=0 if start == 0 else FLOW_AHEAD * largest)
            values[self.layout.latent] = latent.columns
            feed = self.slice(self.layout.decoder_inputs, values, low, high)
            samples = self._decoder.run(None, feed, self._run_options)[0].reshape(-1)
            hop = self.layout.hop
            yield samples[(start - low) * hop:(end - low) * hop]

    def warm(self, ids: list[int], scales: Scales, speaker: int | None) -> Iterator[str]:
        """Runs every stage, the first window's shape and the largest one's; yields each one's name."""
        rng = np.random.default_rng(0)
        values = self._encode(ids, scales, speaker, rng)
        yield "encoder"
        context = self.layout.decoder_context or 0
        for name, count in (("first window", FIRST_WINDOW + context), ("largest window", LARGEST_WINDOW + 2 * context)):
            stretched = {key: np.resize(value, (*value.shape[:-1], count)) if key in self.layout.moving else value
                         for key, value in values.items()}
            latent = Latent(self, stretched, count, rng)
            latent.extend_to(count, 0)
            stretched[self.layout.latent] = latent.columns
            self._decoder.run(None, self.slice(self.layout.decoder_inputs, stretched, 0, count), self._run_options)
            yield name

    def _encode(self, ids: list[int], scales: Scales, speaker: int | None,
                rng: np.random.Generator) -> dict[str, np.ndarray]:
        values = {
            "input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array([scales.noise, scales.length, scales.noise_w], np.float32),
            "sid": np.array([speaker or 0], np.int64),
        }
        feed = {name: values[name] for name in self.layout.inputs}
        if self.layout.duration_shape:
            shape = tuple(size or len(ids) for size in self.layout.duration_shape)
            feed[DURATION_NOISE] = rng.standard_normal(shape, np.float32)
        outputs = self._encoder.run(self.layout.encoder_outputs, feed, self._run_options)
        return values | dict(zip(self.layout.encoder_outputs, outputs))

    def flow(self, values: dict[str, np.ndarray], low: int, high: int) -> np.ndarray:
        return self._flow.run(None, self.slice(self.layout.flow_inputs, values, low, high), self._run_options)[0]

    def slice(self, names: list[str], values: dict[str, np.ndarray], low: int, high: int) -> dict[str, np.ndarray]:
        """The named values, those that move in time cut to the frames [low, high)."""
        moving = {*self.layout.moving, NOISE, self.layout.latent}
        return {name: values[name][..., low:high] if name in moving else values[name] for name in names}


class Latent:
    """The decoder's input for one utterance, made by the flow only as far as it is needed."""

    def __init__(self, network: Network, values: dict[str, np.ndarray], count: int, rng: np.random.Generator):
        layout = network.layout
        self._network, self._values, self._count, self._rng = network, values, count, rng
        self._drawn = self._made = 0
        self.columns = np.empty((1, layout.noise_channels, count), np.float32)
        values[NOISE] = np.empty((1, layout.noise_channels, count), np.float32)

    def extend_to(self, end: int, ahead: int) -> None:
        """Make the columns before `end`; where some are missing, `ahead` more than that."""
        if end <= self._made:
            return
        context = self._network.layout.flow_context
        end = self._count if context is None else min(self._count, end + ahead)
        low, high = max(0, self._made - (context or 0)), min(self._count, end + (context or 0))
        self._draw(high)
        made = self._network.flow(self._values, low, high)
        self.columns[..., self._made:end] = made[..., self._made - low:end - low]
        self._made = end

    def _draw(self, end: int) -> None:
        """Noise frame by frame, so that its values don't depend on where windows end."""
        if end > self._drawn:
            noise = self._values[NOISE]
            fresh = self._rng.standard_normal((end - self._drawn, noise.shape[1]), np.float32)
            noise[0, :, self._drawn:end] = fresh.T
            self._drawn = end


def _session(path: Path, threads: int, optimised: bool = False) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # patterns are kept per shape for ever, and lengths vary without end
    if optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    provider = ("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})
    return ort.InferenceSession(str(path), options, providers=[provider])
