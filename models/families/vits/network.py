"""A loaded voice: its stages as onnxruntime sessions, run so that samples leave window by window."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime as ort

from models.families.vits.engine import load_stage
from models.families.vits.frames import Frames, Lead
from models.families.vits.prepare import Layout, StageLayout
from models.families.vits.split import DURATION_NOISE
from models.families.vits.windows import windows

FIRST_WINDOW, LARGEST_WINDOW = 12, 64  # frames that leave together; benchmarks/README.md says how they were chosen
AHEAD = 4  # after the first window, stages before the last run this many windows ahead, to pay less context
CRUMB = 0.5  # a rest smaller than this part of what a stage is about to make is made with it


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
        self.gain = 1.0  # what callers should multiply the samples by, once it has been measured
        self.hop = int(np.prod([stage.rate for stage in layout.stages]))  # samples per frame
        self._options = ort.RunOptions()
        if saver:
            self._options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        self._encoder = load_stage(folder / "encoder.onnx", threads)
        self._stages = [load_stage(folder / stage.file, threads) for stage in layout.stages]
        self._outputs = [*layout.encoder_outputs, *filter(None, [layout.durations])]
        self.reach = reach(layout.stages)
        files = ("encoder.onnx", *(stage.file for stage in layout.stages))
        self.bytes = sum((folder / name).stat().st_size for name in files)  # of the weights

    def speak(self, ids: list[int], scales: Scales, speaker: int | None, rng: np.random.Generator,
              first: int = FIRST_WINDOW, largest: int = LARGEST_WINDOW,
              lead: Lead | None = None) -> Iterator[np.ndarray]:
        """float32 samples of one utterance, window by window; what is heard doesn't depend on the windows. lead: what
        to read before all else, if the voice says how long its phonemes last."""
        yield from self._decode(self.frames(ids, scales, speaker, rng, lead), first, largest)

    def warm(self, ids: list[int], scales: Scales, speaker: int | None) -> Iterator[str]:
        """Runs every stage in the first window's shape and in the largest one's; yields each one's name."""
        rng = np.random.default_rng(0)
        frames = self.frames(ids, scales, speaker, rng)
        yield "encoder"
        frames.resize(FIRST_WINDOW + (2 * AHEAD + 1) * LARGEST_WINDOW)
        chunks = self._decode(frames, FIRST_WINDOW, LARGEST_WINDOW)
        next(chunks)
        yield "first window"
        for _ in chunks:
            pass
        yield "windows"

    def frames(self, ids: list[int], scales: Scales, speaker: int | None, rng: np.random.Generator,
               lead: Lead | None = None) -> Frames:
        """What the encoder makes of an utterance, for as much of it as is needed at first."""
        shape = [size or len(ids) for size in self.layout.duration_shape]
        noise = rng.standard_normal(shape, np.float32) if shape else None

        def read(count: int) -> dict[str, np.ndarray]:
            values = {
                "input": np.array([ids[:count]], np.int64), "input_lengths": np.array([count], np.int64),
                "scales": np.array([scales.noise, scales.length, scales.noise_w], np.float32),
                "sid": np.array([speaker or 0], np.int64),
            }
            feed = {name: values[name] for name in self.layout.inputs}
            if noise is not None:
                feed[DURATION_NOISE] = noise[..., :count]
            return values | dict(zip(self._outputs, self._encoder.run(self._outputs, feed, self._options)))

        usable = self.layout.durations and self.reach is not None
        return Frames(read, len(ids), lead if usable else None, self.layout, rng)

    def _decode(self, frames: Frames, first: int, largest: int) -> Iterator[np.ndarray]:
        columns = None
        for stage, session in zip(self.layout.stages, self._stages):
            columns = Columns(stage, session, self._options, frames, columns)
        last = self.layout.stages[-1]
        per_frame = self.hop // last.rate  # input columns of the last stage
        if self.reach is None:  # only the whole will do
            first = largest = frames.count
        reach = self.reach or 0

        def known(end: int) -> int:
            return frames.known(end + reach)

        for start, end in windows(known, first, largest):
            ahead = 0 if start == 0 else AHEAD * (end - start)
            yield columns.run(start * per_frame, end * per_frame, ahead).reshape(-1)


def reach(stages: list[StageLayout]) -> int | None:
    """Frames to the right of a frame that its samples depend on; None where that is all of them."""
    frames, per_frame = 0, 1
    for stage in stages:
        if stage.context is None:
            return None
        frames += -(-stage.context // per_frame) + 1
        per_frame *= stage.rate
    return frames


class Columns:
    """One stage's output for one utterance, made from left to right as far as it is asked for.

    A column is one step in time: a frame before the decoder, a sample after it.
    """

    def __init__(self, stage: StageLayout, session: ort.InferenceSession, options: ort.RunOptions, frames: Frames,
                 source: Columns | None):
        self._stage, self._session, self._options = stage, session, options
        self._stages = [*source._stages, stage] if source else [stage]  # up to this one
        self._frames, self._source = frames, source
        self._kept: np.ndarray | None = None
        self._made = 0
        self._lag = reach(self._stages) or 0

    @property
    def _inputs(self) -> int:
        return self._source.count if self._source else self._frames.count

    @property
    def _per_frame(self) -> int:
        """Input columns of one frame."""
        return self._source._per_frame * self._source._stage.rate if self._source else 1

    @property
    def count(self) -> int:
        return self._inputs * self._stage.rate

    @property
    def _final(self) -> int:
        """Input columns whose output depends on settled frames only."""
        if self._frames.settled == self._frames.count:
            return self._inputs
        return max(0, self._frames.settled - self._lag) * self._per_frame

    def columns(self, low: int, high: int, ahead: int) -> np.ndarray:
        """Columns [low, high), kept from before or made now; then those of up to `ahead` more frames are made with
        them, as far as these will stay."""
        if high > self._made:
            rate = self._stage.rate
            begin, end = self._made // rate, -(-high // rate)
            if ahead:
                wish = end + ahead * self._per_frame
                if self._final - wish < CRUMB * (wish - begin):
                    wish = self._final
                end = max(end, wish)
            if self._stage.context is None:
                end = self._inputs
            fresh = self.run(begin, end, ahead)
            if self._kept is None or self._kept.shape[-1] < self.count:
                kept, self._kept = self._kept, np.empty((*fresh.shape[:-1], self.count), np.float32)
                if kept is not None:
                    self._kept[..., :self._made] = kept[..., :self._made]
            self._kept[..., begin * rate:end * rate] = fresh
            self._made = end * rate
        return self._kept[..., low:high]

    def run(self, begin: int, end: int, ahead: int) -> np.ndarray:
        """What the input columns [begin, end) become, shape (1, channels, (end - begin) * rate)."""
        stage, context = self._stage, self._stage.context or 0
        low, high = max(0, begin - context), min(self._inputs, end + context)
        feed = self._frames.feed([name for name in stage.inputs if name != stage.source], low, high)
        if self._source is not None:
            feed[stage.source] = self._source.columns(low, high, ahead)
        made = self._session.run(None, feed, self._options)[0]
        made = made.reshape(1, -1, (high - low) * stage.rate)
        return made[..., (begin - low) * stage.rate:(end - low) * stage.rate]
