"""What a family is: the one protocol behind which every kind of model lives.

A family is a package below `models.families` whose `__init__` exports `FAMILY`, a `FamilyInfo`. That `__init__`
imports nothing heavy (no torch, no onnxruntime): the configuration is checked against it before anything loads.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from models.events import SpeechRequest, WordTiming
from models.families.device import device_of
from models.gaps import Gap
from models.slots import Slots
from models.text import Segment
from models.voices.clip import Clip

if TYPE_CHECKING:
    import torch

TORCH = 480 << 20  # bytes that importing torch takes: the "torch" of `FamilyInfo.libraries`


Words = str | Mapping[str, str]  # a phrase, or one for each language of the page ("en", "zh")


@dataclass(frozen=True)
class Option:
    """A knob of a family: declared once, checked and shown everywhere from here.

    type is bool, int, float or str; low and high are inclusive; choices limits strings. A control a request may set
    has a label, and help in every language of the page; its default None leaves the choice to the model.
    """

    type: type
    default: Any
    help: Words
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] | None = None
    label: Words = ""


@dataclass(frozen=True)
class ModelSpec:
    """One `[[models]]` entry of the configuration, checked.

    path: a local folder or file with weights, or None for the family's default. options: every session option of
    the family, defaults filled in, without the family's prefix.
    """

    id: str
    family: str
    path: Path | None = None
    device: str = "auto"  # auto, cpu, cuda, cuda:N
    precision: str = "auto"  # auto, float32, float16, bfloat16
    lazy: bool = False
    voice: str = ""  # default voice, "" for the family's own choice
    queue_limit: int = 64
    priority: int = 0  # who is loaded first, and may stay, where memory is short: the highest
    evict: bool | None = None  # may be unloaded to make room; None: if a request loaded it or for a higher priority
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Voice:
    """A stock voice. language: BCP 47 primary tag (with region where it matters: en-us, en-gb), "mul" for one that is
    at home in all of its model's languages; gender: f, m or ""."""

    id: str
    name: Words
    language: str
    gender: str = ""


@dataclass(frozen=True)
class Plan:
    """A request made ready for the worker without touching the model."""

    voice: str
    language: str  # main language, never "auto"
    segments: list[Segment]


@dataclass
class Turn:
    """What a model may read and note while it speaks one request.

    state: the model's own memory between segments of this request. caches: note "hit" or "miss" per cache name.
    voice_prepare: seconds spent making the voice state, None until it was needed. gap: for a model to call in the
    middle of a segment, if it can speak another request's there (see `Gap`); one that never calls it isn't left.
    """

    state: dict[str, Any] = field(default_factory=dict)
    caches: dict[str, str] = field(default_factory=dict)
    voice_prepare: float | None = None
    gap: Gap = field(default_factory=Gap)


class Model(Protocol):
    """One loaded model. `plan` and `voices` may be called from any thread once loaded and must not run the network;
    everything else happens on the session's worker thread only."""

    sample_rate: int
    languages: tuple[str, ...]  # BCP 47 primary tags it speaks
    device: str  # as resolved at load: "cpu", "cuda:0"
    precision: str  # as resolved at load: "float32", "float16", "bfloat16"

    def load(self, progress: Callable[[str], None]) -> None:
        """Weights to memory, ready to run. Raises SpeechError("weights_missing" or "weights_broken")."""

    def warm(self) -> Iterator[str]:
        """Run every stage a request can use; yields each stage's name after it ran."""

    def voices(self) -> list[Voice]: ...

    def default_voice(self, language: str) -> str:
        """The voice id that speaks `language` when a request names none."""

    def plan(self, request: SpeechRequest) -> Plan:
        """Check voice and language, split the text. Raises SpeechError (4xx) naming the field."""

    def speak(self, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn) -> Iterator[np.ndarray | WordTiming]:
        """float32 mono chunks of one segment as they are made. Yields nothing if the segment turns out to have
        nothing to say. Closing the generator must leave the model sound."""

    def slots(self) -> list[Slots]:
        """The caches, for reports."""

    def unload(self) -> None:
        """Give all memory back."""


class CloningModel(Model, Protocol):
    """A model that takes `request.clip`. Its voice states live in a `Slots` keyed by the clip's digest, the model's id
    and the options that matter; a hit encodes nothing. All three run on the worker thread (see `Session.ask`)."""

    def prepare_voice(self, clip: Clip, turn: Turn) -> None:
        """Have the clip's state in the cache. Notes hit or miss and the seconds spent in `turn`."""

    def export_voice(self, clip: Clip) -> dict[str, torch.Tensor]:
        """The clip's state as flat named tensors (scalars as 0-d), fit for safetensors."""

    def import_voice(self, clip: Clip, tensors: dict[str, torch.Tensor]) -> None:
        """Put an exported state back into the cache, bit for bit. Raises ValueError for another model's state."""


@dataclass(frozen=True)
class Published:
    """A checkpoint that can be fetched by name. options: the session options that choose it. size: bytes of its
    download, roughly; None where that isn't known."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    size: float | None = None


@dataclass(frozen=True)
class FamilyInfo:
    """options: session options by name, set in the configuration as `FAMILY.name`. create: builds an unloaded model;
    it does its heavy imports inside. fetch: makes sure the weights are on this machine (idempotent; needs no network
    when they are), returning the folder or file they lie in. libraries: packages and text front ends, taken
    once a process by all sessions that name them: "torch", or the family's own name."""

    name: str
    title: str
    licence: str
    options: Mapping[str, Option]
    create: Callable[[ModelSpec], Model]
    fetch: Callable[[ModelSpec, Callable[[str], None]], Path]
    controls: Mapping[str, Option] = field(default_factory=dict)  # what a request may set in its `options`
    estimate: Callable[[ModelSpec], int] | None = None  # bytes the loaded session will need, told without loading it
    libraries: Mapping[str, int] = field(default_factory=dict)  # bytes of that which stay when it goes, by name
    # where it will run: "cpu" or "cuda:N"
    place: Callable[[ModelSpec], str] = lambda spec: device_of(spec.device, spec.id)
    clones: bool = False  # speaks in the voice of a reference clip: its models are `CloningModel`s
    published: tuple[Published, ...] = ()  # what can be fetched by name, the default first
    requires: tuple[str, ...] = ()  # modules of requirements-NAME.txt without which nothing of it works
