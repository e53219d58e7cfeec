"""What goes into a session and what comes out of it."""
from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.errors import SpeechError
from models.metrics import RequestMetrics
from models.voices.clip import Clip


@dataclass(frozen=True)
class SpeechRequest:
    """One wish to hear a text.

    voice "" means the model's default voice for the language; language "auto" finds it per run of text.
    speed: 1.0 is the model's own pace, 2.0 twice as fast. deadline: seconds from arrival, None for no limit.
    arrived: `time.monotonic()` at the edge, from which every latency figure counts.
    """

    text: str
    model: str = ""
    voice: str = ""
    language: str = "auto"
    speed: float = 1.0
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # the family's controls, checked against its declaration
    clip: Clip | None = None  # the voice to speak in, for families that clone
    deadline: float | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    arrived: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Queued:
    """The request waits; `position` others are before it."""

    position: int


@dataclass(frozen=True)
class Started:
    """The worker has taken it up; sound will come at `sample_rate` Hz in about `segments` segments."""

    sample_rate: int
    segments: int


@dataclass(frozen=True)
class AudioChunk:
    """float32 mono samples in [-1, 1]; `segment` of the plan they belong to; `offset` seconds of audio before them."""

    samples: np.ndarray
    segment: int
    offset: float


@dataclass(frozen=True)
class WordTiming:
    """A word of the text and when it sounds, in seconds from the start of the audio."""

    word: str
    start: float
    end: float


@dataclass(frozen=True)
class Done:
    metrics: RequestMetrics


@dataclass(frozen=True)
class Failed:
    """The request ended without its full audio (cancelled ones too)."""

    error: SpeechError
    metrics: RequestMetrics


Event = Queued | Started | AudioChunk | WordTiming | Done | Failed
