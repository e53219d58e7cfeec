"""A kokoro voice fitted to a clip: the nearest blend of stock voices at once, then its style refined by gradient.

What is refined is one vector of 256 numbers (timbre and manner) added to every row of the blend, measured in units of
how much the stock voices themselves differ: far from what the network was trained on, long texts and other languages
would break first.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from models.families.kokoro.network import SAMPLE_RATE, STYLE_DIM
from models.voices.clip import Clip
from models.voices.measure import Traits, traits
from models.voices.rehearsal import VOICED, Rehearsal, down
from models.voices.speaker import level, speaker_encoder
from models.voices.stock import Stock, stock

LINES = (  # said while fitting: short, and rich in sounds
    "We waited there until the morning came.",
    "The weather will be fine again tomorrow.",
    "I would like a cup of coffee, please.",
    "Nobody knew which road led to the lake.",
)
SECONDS = 120.0  # a fit takes at most
STEPS = 90
WINDOW = 1.6  # seconds of a line heard per step: one part of the speaker encoder
RATE = 0.12  # Adam's, in the stock voices' standard deviations
OUTSIDE = 0.05  # share of the mean variance allowed in directions the stock voices never take
PULL = 0.08  # weight of staying near the blend
PITCH = 2.0  # weight of an octave's error, squared, of pitch and of its spread
CHECK = 15  # steps between two looks at a whole line
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
    """The blend of stock voices most like the clip, as (voice, share) and as a table [510, 256].

    Quick once the stock voices have been listened to, which the first call does.
    """
    known = stock(rehearsal(progress), progress)
    shares = known.blend(_target(clip))
    return shares, known.mixed(shares)


@dataclass(frozen=True)
class First:
    """What is there before any fitting. blend: (stock voice, share). table: float32 [510, 256]. likeness: to the clip."""

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


def first(clip: Clip, progress: Callable[[str], None] = lambda line: None) -> First:
    """`preview`, and how alike it is."""
    shares, table = preview(clip, progress)
    return First(shares, table, _look(rehearsal(progress), table, _target(clip), (0,))[0])


def sample(table: Tensor) -> tuple[np.ndarray, int]:
    """A voice [510, 256] saying one of `LINES`: float32 mono samples, and their rate in Hz."""
    stage = rehearsal()
    with torch.no_grad():
        return stage.say(0, stage.row(table, 0)).samples.cpu().numpy(), SAMPLE_RATE


def fit(clip: Clip, watch: Callable[[Progress], None] = lambda progress: None, stop: threading.Event | None = None,
        seconds: float = SECONDS, steps: int = STEPS, progress: Callable[[str], None] = lambda line: None) -> Fitted:
    """Refine the blend until it is done, the time is over or `stop` is set: the best so far is kept in any case.

    One fit at a time; others wait for their turn (`stop` ends their waiting too, with the blend alone).
    """
    stop = stop or threading.Event()
    with _fitting:
        return _fit(clip, watch, stop, seconds, steps, progress)


def rehearsal(progress: Callable[[str], None] = lambda line: None) -> Rehearsal:
    """The network that fits rehearse with, loaded at its first use and kept: 0.3 GB."""
    with _loading:
        if not _loaded:
            _loaded.append(Rehearsal(LINES, progress=progress))
        return _loaded[0]


def _target(clip: Clip) -> Tensor:
    return torch.from_numpy(speaker_encoder().embed(clip.samples, clip.sample_rate))


def _fit(clip: Clip, watch: Callable[[Progress], None], stop: threading.Event, seconds: float, steps: int,
         progress: Callable[[str], None]) -> Fitted:
    target, wanted = _target(clip), traits(clip.samples, clip.sample_rate)
    stage = rehearsal(progress)
    known = stock(stage, progress)
    shares = known.blend(target)
    base = known.mixed(shares)
    began = time.monotonic()
    start = best = _Looked(torch.zeros(2 * STYLE_DIM), *_look(stage, base, target))
    curve = [start.likeness]
    watch(Progress(0, steps, 0.0, start.likeness))
    spread, done = _spread(known), 0
    for done, offset in enumerate(_descend(stage, base, spread, target, wanted, steps), 1):
        last = done == steps or stop.is_set() or time.monotonic() - began > seconds
        if done % CHECK == 0 or last:
            looked = _Looked(offset, *_look(stage, base + offset, target))
            curve.append(looked.likeness)
            best = max(best, looked, key=lambda each: each.likeness - each.strangeness(wanted))
        watch(Progress(done, steps, time.monotonic() - began, max(curve)))
        if last:
            break
    return Fitted(base + best.offset, best.likeness, shares, start.likeness, halves(clip), wanted, best.traits, done,
                  time.monotonic() - began, curve)


@dataclass(frozen=True)
class _Looked:
    offset: Tensor
    likeness: float
    traits: Traits

    def strangeness(self, wanted: Traits) -> float:
        """What an error in pitch costs when the best of the voices is chosen."""
        off = abs(self.traits.semitones_from(wanted)) / 12
        return 0.5 * off if np.isfinite(off) else 0.0


def _descend(stage: Rehearsal, base: Tensor, spread: Tensor, target: Tensor, wanted: Traits, steps: int) -> Iterator[Tensor]:
    """The offset [256] after every step, averaged over the last ones so that no single line decides."""
    inner = torch.zeros(2 * STYLE_DIM, requires_grad=True)
    adam = torch.optim.Adam([inner], lr=RATE, betas=(0.8, 0.99))
    mean = torch.zeros(2 * STYLE_DIM)
    for step in range(steps):
        for group in adam.param_groups:
            group["lr"] = RATE * (1 - 0.8 * step / steps)
        adam.zero_grad()
        line = step % len(stage)
        with torch.enable_grad():
            row = stage.row(base, line) + (spread @ inner).to(stage.device)
            take = stage.say(line, row, seed=step, window=WINDOW)
            speaker = speaker_encoder()(level(down(take.samples).cpu()))
            loss = 1 - speaker @ target + PITCH * _pitch_error(take.pitch.cpu(), wanted) + PULL * inner.square().mean()
            loss.backward()
        if not torch.isfinite(inner.grad).all():
            continue
        adam.step()
        kept = 0.8 if step >= 5 else 0.0
        mean = kept * mean + (1 - kept) * inner.detach()
        yield spread @ mean


def _pitch_error(pitch: Tensor, wanted: Traits) -> Tensor:
    """Squared error of the middle and of the spread of a pitch curve in Hz, in octaves."""
    voiced = pitch[pitch > VOICED]
    if len(voiced) < 20 or not np.isfinite(wanted.pitch):
        return torch.zeros(())
    octaves = voiced.log2()
    middle = octaves.mean() - np.log2(wanted.pitch)
    spread = octaves.std() - wanted.spread / 12
    return middle.square() + spread.square()


def _spread(known: Stock) -> Tensor:
    """[256, 256]: from standard deviations of the stock voices to style numbers, timbre and manner apart."""
    means = known.tables.mean(1)
    blocks = []
    for half in means.split(STYLE_DIM, dim=1):
        values, axes = torch.linalg.eigh(torch.cov(half.T))
        floor = OUTSIDE * values.clamp_min(0).mean()
        blocks.append(axes * (values.clamp_min(0) + floor).sqrt())
    return torch.block_diag(*blocks)


def _look(stage: Rehearsal, table: Tensor, target: Tensor, lines: Sequence[int] = (0, 1)) -> tuple[float, Traits]:
    """Likeness and traits of a voice saying whole lines."""
    with torch.no_grad():
        sound = torch.cat([stage.say(line, stage.row(table, line)).samples.cpu() for line in lines])
        likeness = float(speaker_encoder()(level(down(sound))) @ target)
    return likeness, traits(sound.numpy(), SAMPLE_RATE)


def halves(clip: Clip) -> float:
    """How much a clip is like itself."""
    middle = len(clip.samples) // 2
    one, two = (speaker_encoder().embed(part, clip.sample_rate) for part in (clip.samples[:middle], clip.samples[middle:]))
    return float(one @ two)
