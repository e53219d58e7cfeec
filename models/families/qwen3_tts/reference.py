"""A reference clip as the talker takes it: the speaker's embedding and, where its words are known, its codes."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from models.audio.resample import resample
from models.errors import SpeechError
from models.families.qwen3_tts.codec import Past, StreamDecoder
from models.voices.clip import Clip

if TYPE_CHECKING:
    from qwen_tts import Qwen3TTSModel
    from qwen_tts.inference.qwen3_tts_model import VoiceClonePromptItem

RATE = 24_000
SHORTEST, LONGEST = 0.5, 60.0  # seconds
QUIETEST = 1e-3  # peak below which a clip counts as silent, -60 dB
MOST_LETTERS = 40  # of a transcript per second: above that it belongs to another clip


@dataclass
class VoicePrompt:
    """embedding: [width] of the speaker. codes: [frames, groups] int64, None when only the timbre is known. past: the
    decoder after those frames, from which the answer's sound goes on."""

    embedding: Tensor
    codes: Tensor | None = None
    past: Past | None = None

    @property
    def bytes(self) -> int:
        tensors = [self.embedding, *([] if self.codes is None else [self.codes])]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors) + (self.past.bytes if self.past else 0)

    def item(self, transcript: str, timbre_only: bool) -> VoiceClonePromptItem:
        """As the official package takes it."""
        from qwen_tts import VoiceClonePromptItem

        alone = timbre_only or self.codes is None
        return VoiceClonePromptItem(None if alone else self.codes, self.embedding, alone, not alone,
                                    None if alone else transcript)


def check(clip: Clip, timbre_only: bool, model: str) -> None:
    """Raises SpeechError("clip_too_short", "clip_silent" or "clip_too_long") on the field clip."""
    if clip.seconds < SHORTEST:
        raise SpeechError("clip_too_short", "clip", seconds=f"{clip.seconds:.2f}", least=f"{SHORTEST:g}")
    if not np.nan_to_num(np.abs(clip.samples)).max() > QUIETEST:
        raise SpeechError("clip_silent", "clip")
    if clip.seconds > LONGEST and with_words(clip) and not timbre_only:  # cut, its words no longer match
        raise SpeechError("clip_too_long", "clip", seconds=f"{clip.seconds:.0f}", model=model, most=f"{LONGEST:g}")


def with_words(clip: Clip) -> bool:
    """Whether the transcript can be that of the clip."""
    letters = sum(char.isalnum() for char in clip.transcript)
    return 0 < letters <= MOST_LETTERS * clip.seconds


def encode(clip: Clip, official: Qwen3TTSModel, decoder: StreamDecoder) -> VoicePrompt:
    """Run the speaker encoder and, if the clip's words are known, the codec's encoder."""
    samples = np.nan_to_num(np.asarray(clip.samples, np.float32))
    samples = resample(samples[:round(LONGEST * clip.sample_rate)], clip.sample_rate, RATE)
    if not with_words(clip) or clip.seconds > LONGEST:
        return VoicePrompt(official.model.extract_speaker_embedding(samples, RATE))
    item = official.create_voice_clone_prompt((samples, RATE), clip.transcript)[0]
    return completed(VoicePrompt(item.ref_spk_embedding, item.ref_code), decoder)


def completed(prompt: VoicePrompt, decoder: StreamDecoder) -> VoicePrompt:
    """With the decoder run over its frames, so that an answer begins without the clip and without a click."""
    if prompt.codes is not None:
        prompt.past = Past()
        decoder.decode(prompt.codes, prompt.past)
    return prompt


def flat(prompt: VoicePrompt, mark: str) -> dict[str, Tensor]:
    """As named tensors; mark: whose state it is."""
    tensors = {"embedding": prompt.embedding.cpu(), "mark": torch.tensor(list(bytes.fromhex(mark)), dtype=torch.uint8)}
    return tensors if prompt.codes is None else {**tensors, "codes": prompt.codes.cpu().contiguous()}


def from_flat(tensors: dict[str, Tensor], mark: str, device: str, width: int, groups: int) -> VoicePrompt:
    """Raises ValueError for another model's state, or what is none."""
    if "mark" not in tensors or bytes(tensors["mark"].tolist()).hex() != mark:
        raise ValueError("the voice state was made by another checkpoint, or in another precision")
    embedding, codes = tensors.get("embedding"), tensors.get("codes")
    if embedding is None or embedding.shape != (width,):
        raise ValueError(f"the voice state has no speaker embedding of {width} numbers")
    if codes is not None and (codes.dtype != torch.int64 or codes.dim() != 2 or codes.shape[1] != groups):
        raise ValueError(f"the voice state's codes are not whole numbers in {groups} columns")
    return VoicePrompt(embedding.to(device), None if codes is None else codes.to(device))
