"""The pocket_tts family behind the protocol."""
from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from itertools import islice

import numpy as np
import torch

from models.audio.stretch import Stretch
from models.errors import SpeechError
from models.events import SpeechRequest
from models.families.device import device_of
from models.families.pocket_tts import reference
from models.families.pocket_tts.checkpoint import Checkpoint, broken, find
from models.families.pocket_tts.loading import fingerprint, load_official
from models.families.pocket_tts.network import LONGEST_PIECE, Network, Settings
from models.families.pocket_tts.placement import storage_of
from models.families.pocket_tts.states import VoiceState, from_flat
from models.families.pocket_tts.threads import alone, in_new_thread
from models.families.protocol import ModelSpec, Plan, Turn, Voice
from models.memory import give_back
from models.slots import Slots
from models.text import normalise, plan_segments
from models.text.segment import Segment
from models.voices.clip import Clip

LIMIT = 160  # characters of a segment: about as many tokens as the model speaks without skipping words
PAUSES = {"paragraph": 0.35}  # seconds after what the model itself leaves
PREFERRED = {"it": "giovanni", "es": "lola", "de": "juergen", "pt": "rafael", "fr": "estelle", "nl": "daan"}
WARM_TEXT = {"en": "On May 5, 2024, Dr. Smith read 3.5 pages.", "fr": "Bonjour, il est 3 heures.", "de": "Hallo, es ist 3 Uhr.",
             "it": "Ciao, sono le 3.", "es": "Hola, son las 3.", "pt": "Olá, são 3 horas.", "nl": "Hallo, het is 3 uur."}
WARM_CHUNKS = 8


class PocketModel:
    """See `models.families.protocol.CloningModel`."""

    def __init__(self, spec: ModelSpec):
        self.spec, self.sample_rate = spec, 0
        self.device = self.precision = ""
        self.languages: tuple[str, ...] = ()
        self._checkpoint: Checkpoint | None = None
        self._network: Network | None = None
        self._pattern: VoiceState | None = None
        self._mark = ""
        self._longest = spec.options.get("reference_seconds", 30.0)
        self._states: Slots[VoiceState] = Slots(
            "voice_state_cache", spec.options.get("voice_state_cache_slots", 4), lambda state: state.bytes)

    # -- life

    def load(self, progress: Callable[[str], None]) -> None:
        self.device = device_of(self.spec.device, self.spec.id)
        self.precision = storage_of(self.spec, self.device)
        self._checkpoint = find(self.spec, progress)
        tts = load_official(self._checkpoint, self.spec.id, self.precision == "int8")
        self._network = Network(tts, self.device, self.precision, not self.spec.options.get("mem_saver", False))
        self._mark, self._pattern = fingerprint(self._checkpoint), self._network.blank()
        if self.device == "cpu":
            alone()
        self.sample_rate, self.languages = self._network.sample_rate, (self._checkpoint.language,)
        if self.spec.voice:
            self._stock(self.spec.voice)

    def warm(self) -> Iterator[str]:
        language = self.languages[0]
        text = WARM_TEXT.get(language, "One, two, three.")
        plan_segments(text, "auto", self.languages, LIMIT, LIMIT)
        text = normalise(text, language)
        yield "text"
        voice = self._pattern
        if self._checkpoint.clones:
            time_axis = np.arange(2 * self.sample_rate) / self.sample_rate
            hum = 0.1 * np.sin(2 * np.pi * 150 * time_axis) * np.sin(2 * np.pi * 3 * time_axis)
            voice = in_new_thread(lambda: self._network.encode(hum.astype(np.float32), self.sample_rate))
            yield "reference encoding"
        if name := self.default_voice(language):
            voice = self._stock_state(name, Turn())
            yield "default voice"
        settings = self._settings(SpeechRequest(text=text))
        for stage in ("first speech", "speech in kept buffers"):
            for _ in islice(self._network.speak(text, voice, settings, torch.Generator().manual_seed(0)), WARM_CHUNKS):
                pass
            yield stage
        give_back()  # what the conversion of the weights and the first encoding left behind

    def unload(self) -> None:
        self._states.clear()
        if self._network is not None:
            self._network.close()
        self._network = self._pattern = None
        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()
        give_back()

    def slots(self) -> list[Slots]:
        return [self._states]

    # -- voices and plans

    def voices(self) -> list[Voice]:
        first = self.default_voice(self.languages[0])
        names = sorted(self._checkpoint.voices, key=lambda name: (name != first, name))
        return [Voice(name, name.replace("_", " ").title(), self.languages[0]) for name in names]

    def default_voice(self, language: str) -> str:
        """"" for a checkpoint without stock voices."""
        names = self._checkpoint.voices
        wishes = (self.spec.voice, PREFERRED.get(self.languages[0], "alba"), *names)
        return next((name for name in wishes if name in names), "")

    def plan(self, request: SpeechRequest) -> Plan:
        if not Stretch.LOW <= request.speed <= Stretch.HIGH:
            expected = {"en": f"a number from {Stretch.LOW:g} to {Stretch.HIGH:g}",
                        "zh": f"{Stretch.LOW:g} 到 {Stretch.HIGH:g} 之间的数字"}
            raise SpeechError("field_invalid", "speed", name="speed", expected=expected)
        voice = self._chosen(request)
        language, segments = plan_segments(request.text, request.language, self.languages, LIMIT, LIMIT)
        return Plan(voice, language, segments)

    def _chosen(self, request: SpeechRequest) -> str:
        if request.clip is not None:
            if not self._checkpoint.clones:
                raise SpeechError("clip_unsupported", "clip", model=self.spec.id, choices=list(self._checkpoint.voices))
            reference.check(request.clip)
            return request.voice or "reference"
        name = request.voice or self.default_voice(request.language)
        if not name:
            raise SpeechError("clip_needed", "clip", model=self.spec.id)
        self._stock(name)
        return name

    def _stock(self, name: str) -> None:
        names = self._checkpoint.voices
        if name in names:
            return
        near, some = get_close_matches(name, names, 1, 0.5), list(names)[:8]
        if not some:
            raise SpeechError("clip_needed", "clip", model=self.spec.id)
        raise SpeechError("voice_unknown", "voice", model=self.spec.id, name=name, suggestion={
            "en": f"did you mean {near[0]}" if near else f"choose one of {', '.join(some)}",
            "zh": f"您是指 {near[0]} 吗" if near else f"请选择 {'、'.join(some)}",
        })

    # -- voice states

    def _state(self, key: tuple, make: Callable[[], VoiceState], turn: Turn) -> VoiceState:
        began = time.perf_counter()
        state, hit = self._states.get((*key, self.spec.id, self._mark, self.precision), make)
        turn.caches[self._states.name] = "hit" if hit else "miss"
        turn.voice_prepare = (turn.voice_prepare or 0.0) + (0.0 if hit else time.perf_counter() - began)
        return state

    def _clip_state(self, clip: Clip, turn: Turn) -> VoiceState:
        def encode() -> VoiceState:
            samples = reference.heard(clip, self._longest)
            return in_new_thread(lambda: self._network.encode(samples, clip.sample_rate))

        return self._state(("clip", clip.digest, self._longest), encode, turn)

    def _stock_state(self, name: str, turn: Turn) -> VoiceState:
        from safetensors.torch import load_file

        def read() -> VoiceState:
            path = self._checkpoint.voices[name]
            try:
                return from_flat(load_file(path), self._pattern)
            except Exception as error:  # safetensors' own kinds, and ValueError for another network's state
                raise broken(self.spec, path, str(error), "copy the voice again, or take it away") from error

        return self._state(("stock", name), read, turn)

    def prepare_voice(self, clip: Clip, turn: Turn) -> None:
        reference.check(clip)
        self._clip_state(clip, turn)

    def export_voice(self, clip: Clip) -> dict[str, torch.Tensor]:
        reference.check(clip)
        return {name: tensor.cpu() for name, tensor in self._clip_state(clip, Turn()).flat(self._mark).items()}

    def import_voice(self, clip: Clip, tensors: dict[str, torch.Tensor]) -> None:
        state = from_flat(tensors, self._pattern, self._mark)
        self._state(("clip", clip.digest, self._longest), lambda: state, Turn())

    # -- speaking

    def speak(self, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn) -> Iterator[np.ndarray]:
        if "voice" not in turn.state:
            turn.state["voice"] = (self._stock_state(plan.voice, turn) if request.clip is None
                                   else self._clip_state(request.clip, turn))
            turn.state["seed"] = secrets.randbits(62) if request.seed is None else request.seed
        generator = torch.Generator().manual_seed((turn.state["seed"] + segment.index * 0x9E3779B97F4A7C15) % 2**63)
        settings, stretch = self._settings(request), Stretch(request.speed, self.sample_rate)
        for piece in self._pieces(normalise(segment.text, plan.language), plan.language):
            for chunk in self._network.speak(piece, turn.state["voice"], settings, generator):
                yield stretch.feed(chunk)
        yield stretch.flush()
        if (pause := PAUSES.get(segment.ends, 0.0)) and segment is not plan.segments[-1]:
            yield np.zeros(round(pause / request.speed * self.sample_rate), np.float32)

    def _settings(self, request: SpeechRequest) -> Settings:
        own, options = self._network.defaults(), request.options
        temperature, threshold = options.get("temperature"), options.get("eos_threshold")
        return Settings(own.temperature if temperature is None else temperature,
                        own.eos_threshold if threshold is None else threshold,
                        options.get("decode_steps", 1), options.get("noise_clamp"), options.get("frames_after_eos"))

    def _pieces(self, text: str, language: str) -> Iterator[str]:
        """The text in pieces short enough not to lose words; numbers grow when they are written out."""
        if not any(char.isalnum() for char in text):
            return
        tokens = self._network.tokens(text)
        parts = []
        if tokens > LONGEST_PIECE:
            room = max(12, len(text) * LONGEST_PIECE // tokens)
            parts = plan_segments(text, language, (language,), room, room)[1]
        if len(parts) < 2:
            yield text
        else:
            for part in parts:
                yield from self._pieces(part.text, language)
