"""The supertonic family behind the protocol."""
from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from models.errors import SpeechError
from models.events import SpeechRequest
from models.families.device import onnx_device_of
from models.families.protocol import ModelSpec, Plan, Turn, Voice
from models.families.supertonic.checkpoint import LANGUAGES, broken, find, name_of, styles
from models.families.supertonic.network import PACE, Network
from models.families.supertonic.styles import Style, content_of, read
from models.slots import Slots
from models.text import normalise, plan_segments
from models.text.segment import Segment

FIRST_LIMIT, LIMIT = 80, 300  # characters of the first and the other segments; LIMIT is the package's
KOREAN_LIMIT = 120  # the package's own, for which it names no reason
PACES = (0.7, 2.0)  # the speeds the package allows
PAUSES = {"paragraph": 1.6, "sentence": 1.0, "clause": 0.3, "word": 0.0}  # shares of the request's pause
HAN = re.compile(r"[\u3400-\u9fff]")
WARM_TEXT = "On May 5, 2024, Dr. Smith read 3.5 pages."


class SupertonicModel:
    """See `models.families.protocol.Model`."""

    precision = "float32"

    def __init__(self, spec: ModelSpec):
        self.spec, self.device, self.sample_rate = spec, "", 0
        self.languages = LANGUAGES[name_of(spec)]
        self._network: Network | None = None
        self._files: dict[str, Path] = {}
        self._styles: Slots[Style] = Slots("style_cache", spec.options.get("style_cache_slots", 4), lambda style: style.bytes)

    # -- life

    def load(self, progress: Callable[[str], None]) -> None:
        self.device = onnx_device_of(self.spec.device, self.spec.id)
        folder = find(self.spec, progress)
        self._network = Network(self.spec, folder, self.device, len(self.languages) > 1)
        self.sample_rate, self._files = self._network.sample_rate, styles(folder)
        if self.spec.voice:
            self._known(self.spec.voice)

    def warm(self) -> Iterator[str]:
        plan_segments(WARM_TEXT, "auto", self.languages, FIRST_LIMIT, LIMIT)
        text = normalise(WARM_TEXT, "en")
        yield "text"
        style = self._style(self.default_voice("en"), Turn())
        yield "default style"
        for stage, words in (("short segment", text), ("long segment", " ".join([text] * 5))):
            for _ in self._network.speak(self._network.readable(words), "en", style, 2, 1.0, np.random.default_rng(0)):
                pass
            yield stage

    def unload(self) -> None:
        self._styles.clear()
        self._network = None

    def slots(self) -> list[Slots]:
        return [self._styles]

    # -- voices and plans

    def voices(self) -> list[Voice]:
        """The styles speak every language of the checkpoint."""
        gender, language = {"F": "f", "M": "m"}, "mul" if len(self.languages) > 1 else self.languages[0]
        return [Voice(name, name, language, gender.get(name[0].upper(), "") if name[1:].isdigit() else "")
                for name in self._files]

    def default_voice(self, language: str) -> str:
        wishes = (self.spec.voice, "M1", *self._files)
        return next(name for name in wishes if name in self._files)

    def plan(self, request: SpeechRequest) -> Plan:
        low, high = (pace / PACE for pace in PACES)
        if not low <= request.speed <= high:
            expected = {"en": f"a number from {low:.2f} to {high:.2f}", "zh": f"{low:.2f} 到 {high:.2f} 之间的数字"}
            raise SpeechError("field_invalid", "speed", name="speed", expected=expected)
        if request.clip is not None:
            raise SpeechError("clip_unsupported", "clip", model=self.spec.id, choices=list(self._files)[:10])
        name = request.voice or self.default_voice(request.language)
        self._known(name)
        self._refuse_chinese(request)
        language, segments = plan_segments(request.text, request.language, self.languages, FIRST_LIMIT, LIMIT)
        if language == "ko":
            language, segments = plan_segments(request.text, request.language, self.languages, FIRST_LIMIT, KOREAN_LIMIT)
        return Plan(name, language, segments)

    def _refuse_chinese(self, request: SpeechRequest) -> None:
        """Where Japanese is spoken, Chinese would be read as if it were Japanese."""
        if "ja" in self.languages and request.language.lower() in ("auto", "") and HAN.search(request.text):
            if plan_segments(request.text, "auto", (*self.languages, "zh"), FIRST_LIMIT, LIMIT)[0] == "zh":
                raise SpeechError("language_unsupported", "language", model=self.spec.id, language="zh",
                                  choices=self.languages)

    def _known(self, name: str) -> None:
        if name in self._files:
            return
        near, some = get_close_matches(name, self._files, 1, 0.5), list(self._files)[:10]
        raise SpeechError("voice_unknown", "voice", model=self.spec.id, name=name, suggestion={
            "en": f"did you mean {near[0]}" if near else f"choose one of {', '.join(some)}",
            "zh": f"您是指 {near[0]} 吗" if near else f"请选择 {'、'.join(some)}",
        })

    # -- speaking

    def speak(self, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn) -> Iterator[np.ndarray]:
        if "style" not in turn.state:
            turn.state["style"] = self._style(plan.voice, turn)
        language = main_language(segment)
        text = self._network.readable(normalise(segment.text, language))
        if not text:
            return
        seed = None if request.seed is None else [request.seed % 2**64, segment.index]
        rng = np.random.Generator(np.random.SFC64(seed))
        yield from self._network.speak(text, language, turn.state["style"], request.options.get("steps", 8),
                                       request.speed, rng)
        pause = PAUSES[segment.ends] * request.options.get("pause", 0.3) * (segment is not plan.segments[-1])
        if pause:
            yield np.zeros(round(pause / request.speed * self.sample_rate), np.float32)

    def _style(self, name: str, turn: Turn) -> Style:
        began, file = time.perf_counter(), self._files[name]
        try:
            content, digest = content_of(file)
            style, hit = self._styles.get(digest, lambda: read(content, self._network.style_shapes))
        except (OSError, ValueError) as error:
            raise broken(self.spec, file, str(error), "copy the style again, or take it away") from error
        turn.caches[self._styles.name] = "hit" if hit else "miss"
        turn.voice_prepare = time.perf_counter() - began
        return style


def main_language(segment: Segment) -> str:
    """The language most of the segment is in: a text carries one."""
    weights: dict[str, int] = {}
    for run in segment.runs:
        weights[run.language] = weights.get(run.language, 0) + len(run.text)
    return max(weights, key=weights.get)
