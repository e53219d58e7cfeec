"""The vits family behind the protocol: a folder of Piper voices as one model."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

import numpy as np

from models.errors import SpeechError
from models.events import SpeechRequest
from models.families.protocol import ModelSpec, Plan, Turn, Voice
from models.families.vits import fetch
from models.families.vits.engine import default_threads
from models.families.vits.frames import lead
from models.families.vits.frontend import foreign, phoneme_ids
from models.families.vits.level import level
from models.families.vits.network import Network, Scales
from models.families.vits.piper import PiperVoice, find_voices
from models.families.vits.prepare import prepare
from models.memory import give_back
from models.slots import Slots
from models.text.segment import Segment

# characters of the first and the other segments. The first need not be short to be heard soon (see `frames.lead`), and
# these voices let the pitch fall at the end of a short one as at a sentence's; but it is read whole while its beginning
# is heard, which may take no longer than that.
FIRST_LIMIT, LIMIT = 220, 320
PAUSES = {"paragraph": 0.45, "sentence": 0.15, "clause": 0.0, "word": 0.0}  # seconds after what the voice itself leaves


@dataclass(frozen=True)
class Stock:
    """What a voice id stands for. speaker: its number in a multi-speaker voice."""

    shown: Voice
    piper: PiperVoice
    speaker: int | None


class VitsModel:
    """See `models.families.protocol.Model`."""

    device, precision = "cpu", "float32"

    def __init__(self, spec: ModelSpec):
        self.spec = spec
        self.sample_rate = 0
        self.languages: tuple[str, ...] = ()
        self._stock: dict[str, Stock] = {}
        self._aliases: dict[str, str] = {}
        self._progress: Callable[[str], None] = lambda line: None
        options = spec.options
        slots = max(1, options.get("voice_cache_slots", 2))
        self._networks: Slots[Network] = Slots("voice_cache", slots, lambda network: network.bytes)
        remembered = options.get("phoneme_cache_slots", 256)
        self._ids: Slots[list[int]] = Slots("phoneme_cache", remembered, lambda ids: 8 * len(ids))
        self._threads = options.get("threads", 0) or default_threads()

    # -- life

    def load(self, progress: Callable[[str], None]) -> None:
        self._progress = progress
        voices = find_voices(fetch(self.spec, progress), self.spec.id)
        self.sample_rate = voices[0].sample_rate
        self.languages = tuple(dict.fromkeys(voice.tag for voice in voices))
        self._stock, self._aliases = catalogue(voices)
        if self.spec.voice:
            self._find(self.spec.voice)
        self._network(self._find(self.spec.voice or next(iter(self._stock))).piper)
        give_back()

    def warm(self) -> Iterator[str]:
        from models.text import warm as warm_text

        stock = self._find(self.spec.voice or next(iter(self._stock)))
        if stock.piper.phoneme_type == "espeak":
            warm_text((stock.piper.tag,), stock.piper.espeak_voice)
            yield "text"
        request = SpeechRequest(text="One, two, three.", voice=stock.shown.id, seed=0)
        plan = self._plan(request, stock)
        ids = self._phoneme_ids(plan.segments[0], stock.piper, Turn())
        yield "phonemes"
        for stage in self._network(stock.piper).warm(ids, self._scales(stock.piper, request), stock.speaker):
            yield stage
        # once as a listener's request goes, in a length that is read in two parts: what it needs is then in place
        request = SpeechRequest(text="The tide was out, and the boats lay on the sand.", voice=stock.shown.id, seed=0)
        plan = self._plan(request, stock)
        for segment in plan.segments:
            for _ in self.speak(segment, plan, request, Turn()):
                pass
        yield "sentence"

    def unload(self) -> None:
        self._networks.clear()
        self._ids.clear()
        give_back()

    def slots(self) -> list[Slots]:
        return [self._networks, self._ids]

    # -- voices and plans

    def voices(self) -> list[Voice]:
        return [stock.shown for stock in self._stock.values()]

    def default_voice(self, language: str) -> str:
        tag = language.lower().split("-")[0]
        first = self._stock[self._aliases.get(self.spec.voice, self.spec.voice)] if self.spec.voice else None
        if first is not None and tag in ("auto", "", first.piper.tag):
            return first.shown.id
        speaking = [stock.shown for stock in self._stock.values() if stock.piper.tag == tag]
        exact = [voice for voice in speaking if voice.language == language.lower()]
        return (exact or speaking or self.voices())[0].id

    def plan(self, request: SpeechRequest) -> Plan:
        return self._plan(request, self._find(request.voice or self.default_voice(request.language)))

    def _plan(self, request: SpeechRequest, stock: Stock) -> Plan:
        from models.text import plan_segments

        tag = stock.piper.tag
        wish = request.language.lower().replace("_", "-").split("-")[0]
        if wish not in ("auto", "", tag):
            raise SpeechError("language_unsupported", "language", model=f"{self.spec.id} ({stock.shown.id})",
                              language=request.language, choices=[tag])
        if strange := foreign(request.text, tag):
            raise SpeechError("script_unsupported", "text", model=f"{self.spec.id} ({stock.shown.id})", language=tag,
                              what=strange)
        language, segments = plan_segments(request.text, "auto", (tag,), FIRST_LIMIT, LIMIT)
        return Plan(stock.shown.id, language, segments)

    def _find(self, name: str) -> Stock:
        found = self._stock.get(self._aliases.get(name, name))
        if found is None:
            near = get_close_matches(name, [*self._stock, *self._aliases], 1, 0.5)
            some = list(self._stock)[:8]
            raise SpeechError("voice_unknown", "voice", model=self.spec.id, name=name, suggestion={
                "en": f"did you mean {near[0]}" if near else f"choose one of {', '.join(some)}",
                "zh": f"您是指 {near[0]} 吗" if near else f"请选择 {'、'.join(some)}",
            })
        return found

    # -- speaking

    def speak(self, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn) -> Iterator[np.ndarray]:
        stock = self._find(plan.voice)
        network = self._network(stock.piper, turn)
        ids = self._phoneme_ids(segment, stock.piper, turn)
        if not ids:
            return
        seed = None if request.seed is None else [request.seed % 2**64, segment.index]
        rng = np.random.Generator(np.random.SFC64(seed))
        scales, first = self._scales(stock.piper, request), segment is plan.segments[0]
        ahead = lead(ids, stock.piper.space, scales.length) if first else None
        for samples in network.speak(ids, scales, stock.speaker, rng, lead=ahead):
            yield np.clip(samples * network.gain, -1.0, 1.0)
            turn.gap()
        if pause := PAUSES[segment.ends] * (segment is not plan.segments[-1]):
            yield np.zeros(round(pause / request.speed * self.sample_rate), np.float32)

    def _scales(self, voice: PiperVoice, request: SpeechRequest) -> Scales:
        noise, noise_w = request.options.get("noise_scale"), request.options.get("noise_w")
        return Scales(voice.noise_scale if noise is None else noise, voice.length_scale / request.speed,
                      voice.noise_w if noise_w is None else noise_w)

    def _phoneme_ids(self, segment: Segment, voice: PiperVoice, turn: Turn) -> list[int]:
        ids, hit = self._ids.get((voice.name, segment.text), partial(phoneme_ids, segment, voice))
        turn.caches["phoneme_cache"] = "hit" if hit else "miss"
        return ids

    def _network(self, voice: PiperVoice, turn: Turn | None = None) -> Network:
        began = time.perf_counter()

        def load() -> Network:
            folder, layout = prepare(voice, self.spec.id, self._progress)
            network = Network(folder, layout, self._threads, self.spec.options.get("mem_saver", False))
            network.gain = level(folder, network, voice)
            return network

        network, hit = self._networks.get(voice.name, load)
        if turn is not None:
            turn.caches["voice_cache"] = "hit" if hit else "miss"
            turn.voice_prepare = turn.voice_prepare or (0.0 if hit else time.perf_counter() - began)
        return network


def catalogue(voices: list[PiperVoice]) -> tuple[dict[str, Stock], dict[str, str]]:
    """Stock voices by id, and other names they answer to.

    A file NAME.onnx with one speaker is the voice "NAME"; with several, each is "NAME/SPEAKER", "NAME" alone the first
    of them, and "SPEAKER" alone works where no other voice has that name.
    """
    stock: dict[str, Stock] = {}
    aliases: dict[str, str] = {}
    shared: set[str] = set()
    for voice in voices:
        if not voice.speakers:
            stock[voice.name] = Stock(Voice(voice.name, voice.title, voice.language), voice, None)
            continue
        for name, number in sorted(voice.speakers.items(), key=lambda item: item[1]):
            key = f"{voice.name}/{name}"
            stock[key] = Stock(Voice(key, f"{voice.title} {name}", voice.language), voice, number)
            aliases.setdefault(voice.name, key)
            if aliases.setdefault(name, key) != key:
                shared.add(name)
    return stock, {name: key for name, key in aliases.items() if name not in shared and name not in stock}
