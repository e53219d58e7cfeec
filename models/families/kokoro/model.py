"""The kokoro family behind the protocol."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from models.events import SpeechRequest
from models.families.kokoro import catalogue, device, engine, phonemes, silence, voices, weights
from models.families.kokoro.constants import MAX_PHONEMES, SAMPLE_RATE
from models.families.protocol import ModelSpec, Plan, Turn, Voice
from models.slots import Slots
from models.text import Segment

FIRST_LIMIT, LIMIT = 60, 240  # characters of the first and the other segments
# a word, a first segment, and one at the limit, which makes the working memory as large as it usually gets
WARM_TEXTS = (
    "Yes.",
    "Good morning, everyone, and welcome.",
    "Once the last of the guests had left, the three of them sat down by the window, watched the lights go out across "
    "the bay one after another, and agreed that nothing would ever be quite the same again in this quiet little town by "
    "the sea",
)


def text_warming() -> dict[str, Future]:
    """Begins to load what reading each language needs, in a thread of its own: it takes as long as all other warming."""
    from models.text import warm, warm_languages

    reader = ThreadPoolExecutor(1, "kokoro-text")
    reading = {language: reader.submit(warm, [language]) for language in (*catalogue.LANGUAGES, "en-gb")}
    reading["(any language)"] = reader.submit(warm_languages, catalogue.LANGUAGES)
    reader.shutdown(wait=False)
    return reading


class KokoroModel:
    """See `models.families.protocol.Model`."""

    def __init__(self, spec: ModelSpec):
        self.spec = spec
        self.sample_rate = SAMPLE_RATE
        self.languages = catalogue.LANGUAGES
        self.device, self.precision = "", ""
        self._engine: engine.Engine | None = None
        self._voices: voices.Voices | None = None

    # -- life

    def load(self, progress: Callable[[str], None]) -> None:
        self.device, self.precision = device.choose(self.spec.device, self.spec.precision)
        path = weights.fetch(self.spec.path, progress)
        file = weights.model_file(path)
        self._vocabulary = phonemes.vocabulary(path)
        self._engine = engine.load(file, self.device, self.precision, progress)
        self._voices = voices.Voices(self.spec.id, self._readers(path), self.spec.options.get("style_cache_slots", 16))
        if self.spec.voice:
            self._voices.find(self.spec.voice)

    def _readers(self, path) -> dict[str, Callable[[], np.ndarray]]:
        if self.spec.path is not None and (files := weights.local_voices(path)):
            return voices.published(files)
        return voices.stock(weights.folder() / weights.VOICES_FILE)

    def warm(self) -> Iterator[str]:
        reading = text_warming()
        for voice in dict.fromkeys(self.default_voice(language) for language in (*self.languages, "en-gb")):
            self._voices.style(self._voices.find(voice))
        yield "voices"
        reading.pop("en").result()
        yield "text en"
        for text in WARM_TEXTS:
            request = SpeechRequest(text=text, language="en", seed=0)
            plan = self.plan(request)
            for segment in plan.segments:
                for _ in self.speak(segment, plan, request, Turn()):
                    pass
            yield f"{len(text)} characters"
        for language, read in reading.items():
            read.result()
            yield f"text {language}"

    def unload(self) -> None:
        loaded, self._engine = self._engine, None
        if self._voices is not None:
            self._voices.styles.clear()
        if loaded is not None:
            loaded.rest()

    def slots(self) -> list[Slots]:
        return [self._voices.styles] if self._voices else []

    # -- voices and plans

    def voices(self) -> list[Voice]:
        return list(self._voices.all)

    def default_voice(self, language: str) -> str:
        if self.spec.voice:
            own = self._voices.info(self._voices.find(self.spec.voice).main).language
            tag = language.lower().replace("_", "-")
            if tag in ("", "auto", own, own.split("-")[0]):
                return self.spec.voice
        return catalogue.default_voice(self._voices.all, language)

    def plan(self, request: SpeechRequest) -> Plan:
        from models.text import plan_segments

        if request.voice:
            self._voices.find(request.voice)
        language = request.language or "auto"
        main, segments = plan_segments(request.text, language, self.languages, FIRST_LIMIT, LIMIT)
        region = language.lower().replace("_", "-")
        voice = request.voice or self.default_voice(region if region.startswith(f"{main}-") else main)
        return Plan(voice, main, segments)

    # -- speaking

    def speak(self, segment: Segment, plan: Plan, request: SpeechRequest, turn: Turn) -> Iterator[np.ndarray]:
        from models.text.phonemes import kokoro_runs

        mix = self._voices.find(plan.voice)
        english = self._english(mix, request.language)
        pieces = phonemes.pieces(kokoro_runs(segment.runs, english), MAX_PHONEMES)
        style = self._style(mix, turn)
        for number, piece in enumerate(pieces):
            ids = phonemes.ids(piece, self._vocabulary)
            if not ids:
                continue
            samples = self._render(ids, style, request, turn)
            ends = segment.ends if number + 1 == len(pieces) else "word"
            heard = silence.framed(samples, self.sample_rate, ends, request.speed)
            if len(heard):
                yield heard

    def _english(self, mix: voices.Mix, language: str) -> str:
        """The region English is read in: the request's, else the voice's own, else American."""
        wish = language.lower().replace("_", "-")
        if wish in ("en-us", "en-gb"):
            return wish
        own = self._voices.info(mix.main).language
        return own if own.startswith("en") else "en-us"

    def _style(self, mix: voices.Mix, turn: Turn) -> np.ndarray:
        began = time.perf_counter()
        style, hit = self._voices.style(mix)
        if turn.voice_prepare is None:
            turn.caches["style_cache"] = "hit" if hit else "miss"
            turn.voice_prepare = time.perf_counter() - began
        return style

    def _render(self, ids: list[int], style: np.ndarray, request: SpeechRequest, turn: Turn) -> np.ndarray:
        """Token ids without boundaries -> float32 samples."""
        noise = turn.state.setdefault("noise", engine.Noise(request.seed))
        boxed = [phonemes.BOUNDARY, *ids, phonemes.BOUNDARY]
        samples = self._engine.speak(boxed, style[len(ids) - 1], request.speed, noise, turn.gap)[0].clip(-1.0, 1.0)
        if self.spec.options.get("mem_saver"):
            self._engine.rest()
        return samples
