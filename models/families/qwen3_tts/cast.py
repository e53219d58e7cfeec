"""Who speaks: the stock speakers of a custom-voice checkpoint, and what stands for a described or a cloned voice."""
from __future__ import annotations

from difflib import get_close_matches

from models.errors import SpeechError
from models.families.protocol import ModelSpec, Voice
from models.families.qwen3_tts.checkpoint import Checkpoint
from models.families.qwen3_tts.names import SPEAKERS

DESIGNED, CLONED = "designed", "reference"  # the ids of a voice that is described, and of the clip's
AS_DESCRIBED = {"en": "As the instruction describes it", "zh": "按指令描述的声音"}


class Cast:
    """A checkpoint's voices. spec: its `voice` is the default one."""

    def __init__(self, checkpoint: Checkpoint, spec: ModelSpec):
        self._checkpoint, self._spec = checkpoint, spec
        self._languages = tuple(checkpoint.languages)

    def voices(self) -> list[Voice]:
        if self._checkpoint.kind == "voice_design":
            return [Voice(DESIGNED, AS_DESCRIBED, "mul")]
        return [Voice(name, name.replace("_", " ").title(), self._native(name),
                      SPEAKERS[name].gender if name in SPEAKERS else "") for name in self._checkpoint.speakers]

    def for_language(self, language: str) -> str:
        """The id that speaks `language` when a request names none; "" for a base checkpoint."""
        if self._spec.voice or self._checkpoint.kind != "custom_voice":
            return self.default() if self._checkpoint.kind != "base" else ""
        tag = language.lower().split("-")[0]
        speakers = sorted(self._checkpoint.speakers, key=lambda name: name not in SPEAKERS)
        plain = [name for name in speakers if not self._checkpoint.speakers[name]]  # those without a dialect
        return next((name for name in [*plain, *speakers] if self._native(name) == tag), speakers[0])

    def default(self) -> str:
        match self._checkpoint.kind:
            case "base":
                return CLONED
            case "voice_design":
                return DESIGNED
        return self.known(self._spec.voice) if self._spec.voice else next(iter(self._checkpoint.speakers))

    def known(self, name: str) -> str:
        """The voice's id. Raises SpeechError("voice_unknown")."""
        single = {"base": (CLONED,), "voice_design": (DESIGNED,)}
        ids = single.get(self._checkpoint.kind) or tuple(self._checkpoint.speakers)
        if name.lower() in ids:
            return name.lower()
        near = get_close_matches(name.lower(), ids, 1, 0.5)
        raise SpeechError("voice_unknown", "voice", model=self._spec.id, name=name, suggestion={
            "en": f"did you mean {near[0]}" if near else f"choose one of {', '.join(ids)}",
            "zh": f"您是指 {near[0]} 吗" if near else f"请选择 {'、'.join(ids)}",
        })

    def _native(self, speaker: str) -> str:
        known = SPEAKERS.get(speaker)
        return known.language if known and known.language in self._languages else self._languages[0]
