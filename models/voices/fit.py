"""A kokoro voice fitted to a clip: the nearest blend of stock voices at once, then its style refined step by step.

What is refined is one vector of style numbers (timbre and manner) added to every row of the blend, along the directions
in which the stock voices themselves differ most and in units of how much: far from what the network was trained on,
long texts and other languages would break first. Each step tries a handful of such vectors on a short line and moves
towards the better ones (CMA-ES; Hansen, "The CMA Evolution Strategy: A Tutorial", 2016). That needs no gradient, so the
engine that speaks can be used as it is, which on a CPU is ten times as fast as a network one can differentiate.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from models.families.kokoro.constants import SAMPLE_RATE
from models.voices.clip import Clip
from models.voices.measure import Traits, traits
from models.voices.rehearsal import Rehearsal
from models.voices.speaker import likeness, speaker_encoder
from models.voices.stock import Stock, speaker_of, stock

LINES = (  # said while fitting: short, and rich in sounds
    "We waited there until the morning came.",
    "The weather will be fine again tomorrow.",
    "I would like a cup of coffee, please.",
    "Nobody knew which road led to the lake.",
)
SECONDS = 120.0  # a fit takes at most
STEPS = 60
TRIES = 10  # voices a step tries
TIMBRE, MANNER = 16, 6  # directions in which the style's halves may move
REACH = 0.35  # how far the first tries go, in the stock voices' standard deviations
PULL = 0.004  # weight of staying near the blend
PITCH = 0.15  # weight of an octave's error in pitch, and in its spread
CHECK = 5  # steps between two looks at all lines
_fitting, _loading = threading.Lock(), threading.Lock()
_loaded: list[Rehearsal] = []


@dataclass(frozen=True)
class Progress:
    """step of steps; seconds since the start; likeness to the clip so far, by the speaker encoder."""

    step: int
    steps: int
    seconds: float
    likeness: float


@dataclass(frozen=True)
class First:
    """What is there before any fitting. blend: (stock voice, share). table: float32 [510, 256]. likeness: to the clip.
    """

    blend: list[tuple[str, float]]
    table: Tensor
    likeness: float

    @property
    def mix(self) -> str:
        """As a voice that can be spoken in at once: "af_heart(0.6)+am_michael(0.4)"."""
        return "+".join(f"{voice}({share:.3f})" for voice, share in self.blend)

    def state(self) -> dict[str, Tensor]:
        """As saved in states/kokoro.safetensors."""
        return {"style": self.table.contiguous()}


@dataclass(frozen=True)
class Fitted:
    """table: float32 [510, 256], a kokoro voice. likeness: on lines it was fitted with. blend: where it started.
    own: likeness of the clip's two halves, which is as much as can be had. clip, voice: traits of both."""

    table: Tensor
    likeness: float
    blend: list[tuple[str, float]]
    blend_likeness: float
    own: float
    clip: Traits
    voice: Traits
    steps: int
    seconds: float
    curve: list[float] = field(default_factory=list)

    def state(self) -> dict[str, Tensor]:
        """As saved in states/kokoro.safetensors."""
        return {"style": self.table.contiguous()}


def preview(clip: Clip, progress: Callable[[str], None] = lambda line: None) -> tuple[list[tuple[str, float]], Tensor]:
    """The blend of stock voices most like the clip, or the one voice that is more like it, as (voice, share) and as a
    table [510, 256].

    Quick once the stock voices have been listened to, which the first call does.
    """
    known, target = stock(rehearsal(progress), progress), torch.from_numpy(_embedded(clip))
    shares = known.blend(target)
    alike = known.speakers @ target
    if alike.max() > speaker_of(rehearsal(), known.mixed(shares)) @ target:  # speakers don't add up as their styles do
        shares = [(known.names[int(alike.argmax())], 1.0)]
    return shares, known.mixed(shares)


def first(clip: Clip, progress: Callable[[str], None] = lambda line: None) -> First:
    """`preview`, and how alike it is."""
    shares, table = preview(clip, progress)
    return First(shares, table, likeness(_heard([sample(table)[0]]), _embedded(clip)))


def sample(table: Tensor) -> tuple[np.ndarray, int]:
    """A voice [510, 256] saying one of `LINES`: float32 mono samples, and their rate in Hz."""
    return rehearsal().say(0, table), SAMPLE_RATE


def fit(clip: Clip, watch: Callable[[Progress], None] = lambda progress: None, stop: threading.Event | None = None,
        seconds: float = SECONDS, steps: int = STEPS, progress: Callable[[str], None] = lambda line: None) -> Fitted:
    """Refine the blend until it is done, the time is over or `stop` is set: the best so far is kept in any case.

    One fit at a time; others wait for their turn (`stop` ends their waiting too, with the blend alone).
    """
    stop = stop or threading.Event()
    with _fitting:
        return _fit(clip, watch, stop, seconds, steps, progress)


def rehearsal(progress: Callable[[str], None] = lambda line: None) -> Rehearsal:
    """The engine that fits rehearse with, loaded at its first use and kept: 0.3 GB."""
    with _loading:
        if not _loaded:
            _loaded.append(Rehearsal(LINES, progress=progress))
        return _loaded[0]


@dataclass(frozen=True)
class _Looked:
    """A voice as it is on all lines. off: octaves from the clip's pitch and its spread."""

    table: Tensor
    likeness: float
    traits: Traits
    off: float


def _fit(clip: Clip, watch: Callable[[Progress], None], stop: threading.Event, seconds: float, steps: int,
         progress: Callable[[str], None]) -> Fitted:
    cma = _cma()
    target, wanted = _embedded(clip), traits(clip.samples, clip.sample_rate)
    stage = rehearsal(progress)
    known = stock(stage, progress)
    shares = known.blend(torch.from_numpy(target))
    base, directions = known.mixed(shares), _directions(known)
    began = time.monotonic()
    start = best = _look(stage, base, target, wanted)
    curve = [start.likeness]
    watch(Progress(0, steps, 0.0, start.likeness))
    # without these it would print, and draw from numpy's own random numbers
    search = cma.CMAEvolutionStrategy(np.zeros(len(directions)), REACH, {
        "popsize": TRIES, "verbose": -9, "seed": np.nan, "randn": _normal(1), "verb_log": 0})
    done = 0

    def cost(inner: np.ndarray) -> float:
        sound = stage.say(done % len(stage), _moved(base, directions, inner), seed=done)
        alike = likeness(_heard([sound]), target)
        return 1 - alike + PITCH * _octaves(traits(sound, SAMPLE_RATE), wanted) + PULL * float(np.square(inner).mean())

    while done < steps and not stop.is_set() and time.monotonic() - began < seconds:
        tries, costs = search.ask(), []
        for one in tries:
            if costs and (stop.is_set() or time.monotonic() - began > seconds):
                break
            costs.append(cost(one))
        if len(costs) == len(tries):
            search.tell(tries, costs)
        done += 1
        over = done == steps or len(costs) < len(tries) or stop.is_set() or time.monotonic() - began > seconds
        if done % CHECK == 0 or over:
            looked = _look(stage, _moved(base, directions, search.mean), target, wanted)
            curve.append(looked.likeness)
            best = max(best, looked, key=lambda each: each.likeness - PITCH * each.off)
        watch(Progress(done, steps, time.monotonic() - began, best.likeness))
    return Fitted(best.table, best.likeness, shares, start.likeness, halves(clip), wanted, best.traits, done,
                  time.monotonic() - began, curve)


def _cma():
    """The library, imported without what it says of drawing."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import cma
    return cma


def _directions(known: Stock) -> np.ndarray:
    """float32 [22, 256]: where the stock voices differ most, timbre and manner apart, a standard deviation each."""
    found = []
    for half, count in zip(known.tables.mean(1).chunk(2, dim=1), (TIMBRE, MANNER)):
        apart = half - half.mean(0)
        _, sizes, axes = torch.linalg.svd(apart, full_matrices=False)
        count = min(count, len(apart) - 1)
        found.append(axes[:count] * (sizes[:count, None] / len(apart) ** 0.5))
    return torch.block_diag(*found).numpy()


def _moved(base: Tensor, directions: np.ndarray, inner: np.ndarray) -> Tensor:
    return base + torch.from_numpy(inner.astype(np.float32) @ directions)


def _normal(seed: int) -> Callable[..., np.ndarray]:
    """Random numbers of the search's own: the process's stay what they are."""
    dice = np.random.default_rng(seed)
    return lambda *shape: dice.standard_normal(shape)


def _look(stage: Rehearsal, table: Tensor, target: np.ndarray, wanted: Traits) -> _Looked:
    """A voice saying every line."""
    sounds = [stage.say(line, table) for line in range(len(stage))]
    voice = traits(np.concatenate(sounds), SAMPLE_RATE)
    return _Looked(table, likeness(_heard(sounds), target), voice, _octaves(voice, wanted))


def _octaves(voice: Traits, wanted: Traits) -> float:
    """How far the pitch and its spread are off, each at most 1; 0 where the clip has none. A voice that has none where
    the clip does is as wrong as can be: the speaker encoder alone would follow one into a whisper."""
    if not np.isfinite(wanted.pitch):
        return 0.0
    if not np.isfinite(voice.pitch):
        return 2.0
    return min(1.0, abs(voice.semitones_from(wanted)) / 12) + min(1.0, abs(voice.spread - wanted.spread) / 12)


def _heard(sounds: Sequence[np.ndarray]) -> np.ndarray:
    return speaker_encoder().embed(np.concatenate(sounds), SAMPLE_RATE)


def _embedded(clip: Clip) -> np.ndarray:
    return speaker_encoder().embed(clip.samples, clip.sample_rate)


def halves(clip: Clip) -> float:
    """How much a clip is like itself."""
    middle = len(clip.samples) // 2
    parts = clip.samples[:middle], clip.samples[middle:]
    one, two = (speaker_encoder().embed(part, clip.sample_rate) for part in parts)
    return float(one @ two)
