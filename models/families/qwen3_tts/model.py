"""The qwen3_tts family behind the protocol."""
from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from models.audio.stretch import Stretch
from models.errors import SpeechError
from models.events import SpeechRequest
from models.families.device import device_of, precision_of
from models.families.protocol import ModelSpec, Plan, Turn, Voice
from models.families.qwen3_tts import reference, text
from models.families.qwen3_tts.cast import CLONED, Cast
from models.families.qwen3_tts.checkpoint import Checkpoint, fetch, open_checkpoint
from models.families.qwen3_tts.codec import Past, StreamDecoder
from models.families.qwen3_tts.loading import load_official
from models.families.qwen3_tts.names import FRAMES_A_SECOND, ON_CUDA
from models.families.qwen3_tts.reference import VoicePrompt
from models.families.qwen3_tts.talker import Talker
from models.families.qwen3_tts.utterance import Speaker, Utterance
from models.slots import Slots
from models.text import normalise, plan_segments
from models.text.segment import Segment
from models.voices.clip import Clip

PAUSES = {"paragraph": 0.35}  # seconds after what the model itself leaves
ANCHOR = 8  # frames a designed voice must have spoken before others are modelled on it
WARM_TEXT = {"en": "On May 5, 2024, Dr. Smith read 3.5 pages.", "zh": "2024年5月3日，今天花了12.5元。",
             "ja": "2024年5月3日、今日は良い天気です。"}


class QwenModel:
    """See `models.families.protocol.CloningModel`; only base checkpoints take a clip (`clones`)."""

    def __init__(self, spec: ModelSpec):
        self.spec, self.sample_rate = spec, reference.RATE
        self.device = self.precision = ""
        self.languages: tuple[str, ...] = ()
        self._checkpoint: Checkpoint | None = None
        self._cast: Cast | None = None
        self._official = None
        self._talker: Talker | None = None
        self._decoder: StreamDecoder | None = None
        self._speaker: Speaker | None = None
        self._mark = ""
        self._prompts: Slots[VoicePrompt] = Slots(
            "voice_prompt_cache", spec.options.get("voice_prompt_cache_slots", 1), lambda prompt: prompt.bytes)

    # -- life

    def load(self, progress: Callable[[str], None]) -> None:
        options = self.spec.options
        self.device = device_of(self.spec.device, self.spec.id)
        self.precision = precision_of(self.spec.precision, self.device, ON_CUDA)
        self._checkpoint = open_checkpoint(fetch(self.spec, progress), self.spec.id)
        self._cast = Cast(self._checkpoint, self.spec)
        self.languages = tuple(self._checkpoint.languages)
        if self.spec.voice:
            self._cast.known(self.spec.voice)
        self._official = load_official(self._checkpoint, self.device, self.precision, self.spec.id)
        self._talker = Talker(self._official)
        self._decoder = StreamDecoder(self._official.model.speech_tokenizer.model.decoder)
        self._speaker = Speaker(self._talker, self._decoder, options.get("first_chunk_frames", 2),
                                options.get("chunk_frames", 8))
        self._mark = hashlib.sha256(f"{self._checkpoint.mark} {self.precision}".encode()).hexdigest()

    def warm(self) -> Iterator[str]:
        language = next((tag for tag in self.languages if tag in WARM_TEXT), self.languages[0])
        words = WARM_TEXT.get(language, "a")
        for tag in set(WARM_TEXT) & set(self.languages):
            plan_segments(WARM_TEXT[tag], "auto", self.languages, text.LIMIT, text.LIMIT)
            normalise(WARM_TEXT[tag], tag)
        yield "text"
        prompt = None
        if self.clones:
            prompt = reference.encode(_hum(words), self._official, self._decoder)
            yield "reference encoding"
        plan = Plan(self._cast.default(), language, [])
        for timbre_only in ((False, True) if self.clones else (False,)):
            request = SpeechRequest(words, options={"timbre_only": timbre_only})
            start = self._talker.prompt(lambda: self._call(words, language, plan, request, prompt, words))
            past = prompt.past.copy() if prompt and not timbre_only else Past()
            frames = min(6 * self.spec.options.get("first_chunk_frames", 2), text.most_frames(words))
            for _ in self._speaker.speak(start, past, self._generator(0), frames, Utterance()):
                pass
            yield "timbre alone" if timbre_only else "speech"
        self._free()

    def unload(self) -> None:
        self._prompts.clear()
        self._official = self._talker = self._decoder = self._speaker = None
        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()

    def slots(self) -> list[Slots]:
        return [self._prompts] if self.clones else []

    # -- voices and plans

    @property
    def clones(self) -> bool:
        return self._checkpoint.kind == "base"

    def voices(self) -> list[Voice]:
        return self._cast.voices()

    def default_voice(self, language: str) -> str:
        """"" for a base checkpoint: it has no voice but the clip's."""
        return self._cast.for_language(language)

    def plan(self, request: SpeechRequest) -> Plan:
        if not Stretch.LOW <= request.speed <= Stretch.HIGH:
            raise SpeechError("field_invalid", "speed", name="speed", expected={
                "en": f"a number from {Stretch.LOW:g} to {Stretch.HIGH:g}",
                "zh": f"{Stretch.LOW:g} 到 {Stretch.HIGH:g} 之间的数字"})
        if request.options.get("instruction") and not self._checkpoint.instructed:
            raise SpeechError("field_invalid", "options.instruction", name="instruction", expected={
                "en": f"empty: the checkpoint of {self.spec.id} follows no instruction",
                "zh": f"空：{self.spec.id} 的模型不支持指令"})
        voice = self._chosen(request)
        limit = self._limit(request)
        language, segments = plan_segments(request.text, request.language, self.languages, limit, limit)
        if self._checkpoint.kind == "custom_voice" and not request.voice:
            voice = self.default_voice(language)
        return Plan(voice, language, segments)

    def _chosen(self, request: SpeechRequest) -> str:
        if request.clip is not None:
            self._must_clone(request.clip, request.options.get("timbre_only", False))
            return request.voice or CLONED
        if self.clones:
            raise SpeechError("clip_needed", "clip", model=self.spec.id)
        return self._cast.known(request.voice) if request.voice else self._cast.default()

    def _limit(self, request: SpeechRequest) -> int:
        """Weight of a segment that fits the talker's context beside clip and instruction, with all its frames."""
        instruction, clip = request.options.get("instruction", ""), request.clip
        room = self._checkpoint.positions - text.MARKS - text.weight(instruction)
        if clip is not None and self._in_context(clip, request):
            room -= text.weight(clip.transcript) + round(clip.seconds * FRAMES_A_SECOND) + 1
        if self._checkpoint.kind == "voice_design":  # the first segment stays in view of the others
            room //= 2
        limit = text.segment_limit(room)
        if limit < text.LEAST:
            name = "clip" if clip is not None else "options.instruction"
            raise SpeechError("field_invalid", name, name=name.removeprefix("options."), expected={
                "en": "shorter: with it the text no longer fits the model's context",
                "zh": "更短：否则文字超出模型的上下文长度"})
        return limit

    @staticmethod
    def _in_context(clip: Clip, request: SpeechRequest) -> bool:
        return reference.with_words(clip) and not request.options.get("timbre_only", False)

    # -- voice prompts

    def _prompt(self, clip: Clip, turn: Turn) -> VoicePrompt:
        return self._kept(clip, lambda: reference.encode(clip, self._official, self._decoder), turn)

    def _kept(self, clip: Clip, make: Callable[[], VoicePrompt], turn: Turn) -> VoicePrompt:
        began = time.perf_counter()
        prompt, hit = self._prompts.get((clip.digest, self.spec.id, self._mark), make)
        turn.caches[self._prompts.name] = "hit" if hit else "miss"
        turn.voice_prepare = (turn.voice_prepare or 0.0) + (0.0 if hit else time.perf_counter() - began)
        return prompt

    def _must_clone(self, clip: Clip, timbre_only: bool = False) -> None:
        """Raises SpeechError about the clip when this model can't speak in its voice."""
        if not self.clones:
            choices = [voice.id for voice in self.voices()]
            raise SpeechError("clip_unsupported", "clip", model=self.spec.id, choices=choices)
        reference.check(clip, timbre_only, self.spec.id)

    def prepare_voice(self, clip: Clip, turn: Turn) -> None:
        self._must_clone(clip)
        self._prompt(clip, turn)

    def export_voice(self, clip: Clip) -> dict[str, Tensor]:
        self._must_clone(clip)
        return reference.flat(self._prompt(clip, Turn()), self._mark)

    def import_voice(self, clip: Clip, tensors: dict[str, Tensor]) -> None:
        self._must_clone(clip)
        talker = self._official.model.talker.config
        prompt = reference.from_flat(tensors, self._mark, self.device, talker.hidden_size, talker.num_code_groups)
        self._kept(clip, lambda: reference.completed(prompt, self._decoder), Turn())

    # -- speaking

    def speak(self, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn) -> Iterator[np.ndarray]:
        state = turn.state
        if "seed" not in state:
            state["seed"] = secrets.randbits(62) if request.seed is None else request.seed
            state["left"] = round(request.options.get("max_seconds", 600.0) * FRAMES_A_SECOND)
            if request.clip is not None:
                state["prompt"] = self._prompt(request.clip, turn)
        generator = self._generator(state["seed"] + segment.index * 0x9E3779B97F4A7C15)
        words = text.spoken(segment, request.options.get("normalise", True))
        stretch = Stretch(request.speed, self.sample_rate)
        try:
            for piece in text.pieces(words, self._language(segment, plan), self._limit(request)) if words else ():
                for chunk in self._piece(piece, segment, plan, request, turn, generator):
                    yield stretch.feed(chunk)
            yield stretch.flush()
            if words and (pause := PAUSES.get(segment.ends, 0.0)) and segment is not plan.segments[-1]:
                yield np.zeros(round(pause / request.speed * self.sample_rate), np.float32)
        finally:
            self._free()

    def _piece(self, words: str, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn,
               generator: torch.Generator) -> Iterator[np.ndarray]:
        state, said = turn.state, Utterance()
        clip, prompt = request.clip, state.get("prompt")
        anchor = state.get("anchor")  # text, codes and decoder of the first piece in a designed voice
        whole = text.joined(anchor[0], words) if anchor else words
        language = self._spoken_language(segment, request)
        start = self._talker.prompt(
            lambda: self._call(whole, language, plan, request, prompt, clip.transcript if clip else ""))
        spoken, past = None, Past()
        if anchor:
            spoken, past = anchor[1], anchor[2].copy()
        elif prompt is not None and prompt.past is not None and self._in_context(clip, request):
            past = prompt.past.copy()
        room = self._checkpoint.positions - start.embeds.shape[1] - (0 if spoken is None else len(spoken))
        limit = min(text.most_frames(words), state["left"], room)
        if limit > 0:
            yield from self._speaker.speak(start, past, generator, limit, said, spoken)
        state["left"] -= len(said.frames)
        if self._checkpoint.kind == "voice_design" and not anchor and said.ended and len(said.frames) >= ANCHOR:
            state["anchor"] = (words, said.codes, past)

    def _call(self, words: str, language: str, plan: Plan, request: SpeechRequest, prompt: VoicePrompt | None,
              transcript: str) -> object:
        """The official method for the checkpoint's kind; `Talker.prompt` keeps it from speaking itself."""
        options, official = request.options, self._official
        name = self._checkpoint.languages.get(language, "auto")
        temperature = options.get("temperature", 0.9)
        sampling = {"do_sample": temperature > 0, "temperature": temperature, "top_k": options.get("top_k", 50),
                    "top_p": options.get("top_p", 1.0), "repetition_penalty": options.get("repetition_penalty", 1.05)}
        if not temperature:
            sampling["subtalker_dosample"] = False
        instruction = text.plain(options.get("instruction", ""))
        match self._checkpoint.kind:
            case "base":
                item = prompt.item(text.plain(transcript), options.get("timbre_only", False))
                return official.generate_voice_clone(words, name, voice_clone_prompt=[item], **sampling)
            case "voice_design":
                return official.generate_voice_design(words, instruction, name, **sampling)
        return official.generate_custom_voice(words, plan.voice, name, instruction or None, **sampling)

    def _language(self, segment: Segment, plan: Plan) -> str:
        return segment.runs[0].language if len({run.language for run in segment.runs}) == 1 else plan.language

    def _spoken_language(self, segment: Segment, request: SpeechRequest) -> str:
        """The tag the model is told, "auto" for a segment in several languages: then it finds out by itself."""
        wish = request.language.lower().replace("_", "-").split("-")[0]
        found = {run.language for run in segment.runs}
        return wish if wish in self.languages else found.pop() if len(found) == 1 else "auto"

    def _generator(self, seed: int) -> torch.Generator:
        return torch.Generator(self.device).manual_seed(seed % 2**63)

    def _free(self) -> None:
        if self.spec.options.get("mem_saver", False) and self.device.startswith("cuda"):
            torch.cuda.empty_cache()


def _hum(words: str) -> Clip:
    """Two seconds that no one would take for speech, to run the encoders on."""
    at = np.arange(2 * reference.RATE) / reference.RATE
    return Clip((0.1 * np.sin(300 * np.pi * at) * np.sin(6 * np.pi * at)).astype(np.float32), reference.RATE, words)
