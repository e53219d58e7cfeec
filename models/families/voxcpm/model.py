"""The voxcpm family behind the protocol."""
from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from models.audio.resample import resample
from models.audio.stretch import Stretch
from models.errors import SpeechError
from models.events import SpeechRequest
from models.families.device import device_of, precision_of
from models.families.options import defaults_of
from models.families.protocol import ModelSpec, Plan, Turn, Voice
from models.families.voxcpm import FAMILY, clips
from models.families.voxcpm.checkpoint import fetch, open_checkpoint
from models.families.voxcpm.languages import FIRST, SECOND
from models.families.voxcpm.text import spoken
from models.slots import Slots
from models.text import plan_segments
from models.text.segment import Segment
from models.voices.clip import Clip

if TYPE_CHECKING:
    import torch

    from models.families.voxcpm.engine import Engine
    from models.families.voxcpm.speaker import Manner
    from models.families.voxcpm.voice import VoiceState

FIRST_LIMIT, LIMIT = 120, 300  # characters of the first and the other segments
SMALLEST = 16  # characters below which a text isn't split further for want of room
PAUSES = {"paragraph": 0.4, "sentence": 0.1, "clause": 0.0, "word": 0.0}  # seconds after what the model itself leaves
OWN_VOICE = "own"
Result = TypeVar("Result")
TITLES = {("voxcpm", 2): "VoxCPM 0.5B", ("voxcpm", 4): "VoxCPM 1.5", ("voxcpm2", 4): "VoxCPM 2"}
WARM_PATCHES = 5  # beyond the first few, from which the stop signal counts
WARM_TEXT = {"en": "On May 5 it was 3.5 degrees.", "zh": "5月3日气温3.5度。"}


class VoxCPM:
    """See `models.families.protocol.CloningModel`."""

    def __init__(self, spec: ModelSpec):
        self.spec = spec
        self.sample_rate = 0
        self.languages: tuple[str, ...] = ()
        self.device, self.precision = spec.device, spec.precision
        self.title = FAMILY.title
        self._second = False
        self._engine: Engine | None = None
        self._fingerprint = ""
        self._voices: Slots[VoiceState] = Slots("prompt_cache", spec.options.get("prompt_cache_slots", 1),
                                                lambda state: state.size)

    # -- life

    def load(self, progress: Callable[[str], None]) -> None:
        self.device = device_of(self.spec.device, self.spec.id)
        self.precision = precision_of(self.spec.precision, self.device)
        checkpoint = open_checkpoint(fetch(self.spec, progress), self.spec.id)
        from models.families.voxcpm.engine import Engine
        from models.families.voxcpm.loading import load
        from models.families.voxcpm.speaker import Speaker

        loaded = load(checkpoint, self.spec.id, self.device, self.precision, progress)
        compiled = self._may_compile() and self.device == "cuda:0"
        if compiled:
            loaded.network.optimize()
        self._engine, self._fingerprint, self._second = Engine(loaded, compiled), loaded.fingerprint, loaded.second
        self._speaker = Speaker(self._engine)
        self.sample_rate = self._engine.sample_rate
        self.languages = SECOND if loaded.second else FIRST
        self.title = TITLES.get((checkpoint.architecture, self._engine.patch_frames), FAMILY.title)

    def _may_compile(self) -> bool:
        return self.spec.options.get("optimize", True) and not self.spec.options.get("mem_saver", False)

    def warm(self) -> Iterator[str]:
        request = SpeechRequest("", seed=0, options=defaults_of(FAMILY.controls))
        for language, text in WARM_TEXT.items():
            segment = plan_segments(text, language, self.languages, FIRST_LIMIT, LIMIT)[1][0]
            words = spoken(segment, True)
        yield "text"
        rate = self._engine.clip_rate
        hum = np.sin(np.arange(2 * rate) * 2 * np.pi * 140 / rate, dtype=np.float32) * 0.1
        voice = self._engine.voice(hum, "One, two, three.")
        yield "reference clip"
        for name, state, continues in (("own voice", None, False), ("cloned voice", voice, True),
                                       ("reference voice", voice, False)):
            if name == "reference voice" and not self._second:
                continue
            manner = self._manner(request, state, continues)
            chunks = self._speaker.speak(words, manner, 0)
            for _ in islice(chunks, WARM_PATCHES):
                pass
            chunks.close()
            yield name
        self._rest()

    def unload(self) -> None:
        self._voices.clear()
        if self._engine is not None:
            self._engine.release()
        self._engine = self._speaker = None

    def slots(self) -> list[Slots]:
        return [self._voices]

    def _rest(self) -> None:
        if self.spec.options.get("mem_saver", False):
            self._engine.release()

    # -- voices and plans

    def voices(self) -> list[Voice]:
        return [Voice(OWN_VOICE, {"en": "Chosen by the model", "zh": "由模型决定"}, "mul")]

    def default_voice(self, language: str) -> str:
        return OWN_VOICE

    def plan(self, request: SpeechRequest) -> Plan:
        if request.voice not in ("", OWN_VOICE):
            raise SpeechError("voice_unknown", "voice", model=self.spec.id, name=request.voice, suggestion={
                "en": f"it has only {OWN_VOICE}, and any voice you give as a clip",
                "zh": f"它只有 {OWN_VOICE}，以及您用录音提供的声音"})
        if request.clip is not None:
            self._check_clip(request.clip)
        self._check_controls(request)
        if not Stretch.LOW <= request.speed <= Stretch.HIGH:
            raise self._refused("speed", "speed", f"a number from {Stretch.LOW:g} to {Stretch.HIGH:g}",
                                f"{Stretch.LOW:g} 到 {Stretch.HIGH:g} 之间的数字")
        language, segments = plan_segments(request.text, request.language, self.languages, FIRST_LIMIT, LIMIT)
        return Plan(OWN_VOICE, language, segments)

    def _check_clip(self, clip: Clip) -> None:
        # half of the caches for the voice, the other for text and speech; a sign is three tokens at the very most
        encoded = self._second + bool(clip.transcript)
        room = self._engine.capacity // 2 - 2 - len(clip.transcript.encode())
        clips.check(clip, max(0, room) / max(1, encoded) * self._engine.patch_seconds, self.title)
        if not self._second and not clip.transcript.strip():
            raise SpeechError("clip_transcript_missing", "clip", model=self.title)

    def _check_controls(self, request: SpeechRequest) -> None:
        options, clip = request.options, request.clip
        if options.get("instruction") and not self._second:
            raise self._refused("options.instruction", "instruction",
                                f"left empty: {self.title} takes none, only VoxCPM 2 does",
                                f"留空：{self.title} 不支持，只有 VoxCPM 2 支持")
        if clip is None:
            return
        if options.get("cloning") == "reference" and not self._second:
            raise self._refused("options.cloning", "cloning",
                                f"auto or continuation: {self.title} can only continue a clip",
                                f"auto 或 continuation：{self.title} 只能续接录音")
        if options.get("cloning") == "continuation" and not clip.transcript.strip():
            raise self._refused("options.cloning", "cloning",
                                "auto or reference: to continue a clip, its words must be given",
                                "auto 或 reference：续接录音需要其文字")

    @staticmethod
    def _refused(field: str, name: str, english: str, chinese: str) -> SpeechError:
        return SpeechError("field_invalid", field, name=name, expected={"en": english, "zh": chinese})

    # -- voice states

    def prepare_voice(self, clip: Clip, turn: Turn) -> None:
        self._voice(clip, turn)

    def export_voice(self, clip: Clip) -> dict[str, torch.Tensor]:
        return self._voice(clip, Turn()).tensors(self._fingerprint)

    def import_voice(self, clip: Clip, tensors: dict[str, torch.Tensor]) -> None:
        from models.families.voxcpm.voice import VoiceState

        state = VoiceState.from_tensors(tensors, self._fingerprint, str(self._engine.device))
        self._voices.get(self._key(clip), lambda: state)

    def _key(self, clip: Clip) -> tuple[str, ...]:
        return clip.digest, self.spec.id, self._fingerprint

    def _voice(self, clip: Clip, turn: Turn) -> VoiceState:
        self._check_clip(clip)
        began = time.perf_counter()

        def make() -> VoiceState:
            samples = resample(clip.samples, clip.sample_rate, self._engine.clip_rate)
            return self._engine.voice(samples, " ".join(clip.transcript.split()))

        state, hit = self._voices.get(self._key(clip), make)
        turn.caches[self._voices.name] = "hit" if hit else "miss"
        turn.voice_prepare = (turn.voice_prepare or 0.0) + time.perf_counter() - began
        return state

    # -- speaking

    def speak(self, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn) -> Iterator[np.ndarray]:
        try:
            yield from self._speak(segment, plan, request, turn)
        finally:
            self._rest()

    def _speak(self, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn) -> Iterator[np.ndarray]:
        text = spoken(segment, request.options.get("normalise", True))
        if not text:
            return
        manner = turn.state.get("manner") or self._first_manner(request, turn)
        parts, limit = [text], LIMIT
        while parts:
            part = parts.pop(0)
            if limit > SMALLEST and not self._speaker.fits(part, manner):
                limit = max(SMALLEST, min(limit, len(part)) // 2)
                parts[:0] = [piece.text for piece in plan_segments(part, "auto", self.languages, limit, limit)[1]]
                continue
            number = turn.state["number"] = turn.state.get("number", -1) + 1
            anchor = yield from self._at_speed(self._speaker.speak(part, manner, number), request.speed)
            if anchor is not None:  # the rest is said in the voice the model has chosen
                manner = replace(manner, voice=anchor, continues=True, instruction="")
            turn.state["manner"] = manner
        if pause := PAUSES[segment.ends] * (segment is not plan.segments[-1]):
            yield np.zeros(round(pause / request.speed * self.sample_rate), np.float32)

    def _at_speed(self, chunks: Generator[np.ndarray, None, Result], speed: float) -> Generator[np.ndarray, None, Result]:
        """The model has no pace to set: its sound is stretched. Returns what `chunks` returns."""
        stretch = Stretch(speed, self.sample_rate)
        try:
            while True:
                yield stretch.feed(next(chunks))
        except StopIteration as end:
            yield stretch.flush()
            return end.value
        finally:
            chunks.close()

    def _first_manner(self, request: SpeechRequest, turn: Turn) -> Manner:
        if request.clip is None:
            return self._manner(request, None, False)
        voice, cloning = self._voice(request.clip, turn), request.options.get("cloning", "auto")
        continues = voice.continues and (not self._second or cloning == "continuation"
                                         or (cloning == "auto" and not request.options.get("instruction")))
        return self._manner(request, voice, continues)

    @staticmethod
    def _manner(request: SpeechRequest, voice: VoiceState | None, continues: bool) -> Manner:
        from models.families.voxcpm.speaker import Manner

        values = defaults_of(FAMILY.controls) | dict(request.options)
        return Manner(voice, continues, values["instruction"], values["cfg_value"], values["inference_timesteps"],
                      values["temperature"], values["retry_badcase"], request.seed)
