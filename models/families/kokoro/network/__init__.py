"""Kokoro's network: StyleTTS 2 with an iSTFTNet decoder, written after the papers.

Sources: StyleTTS 2 (Li et al. 2023), iSTFTNet (Kaneko et al. 2022), ALBERT (Lan et al. 2020); parameter names and
shapes as in the checkpoints of Kokoro-82M, weight norm folded. Inference only, one utterance at a time.
"""
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.families.kokoro.constants import SAMPLE_RATE, STYLE_DIM
from models.families.kokoro.network.albert import Albert
from models.families.kokoro.network.decoder import Decoder
from models.families.kokoro.network.generator import Generator
from models.families.kokoro.network.prosody import ProsodyPredictor
from models.families.kokoro.network.source import Noise
from models.families.kokoro.network.text_encoder import TextEncoder


@dataclass(frozen=True)
class Spoken:
    """samples float32 [n]; durations int64 [phonemes + 2] in frames of 25 ms, boundary tokens included."""

    samples: Tensor
    durations: Tensor


class KokoroNetwork(nn.Module):
    """Dimensions of Kokoro v1.0 (and v1.1-zh)."""

    def __init__(self, tokens: int = 178, hidden: int = 512, layers: int = 3, max_duration: int = 50):
        super().__init__()
        self.bert = Albert(tokens)
        self.bert_encoder = nn.Linear(768, hidden)
        self.predictor = ProsodyPredictor(hidden, STYLE_DIM, layers, max_duration)
        self.text_encoder = TextEncoder(tokens, hidden, kernel=5, depth=layers)
        generator = Generator(
            STYLE_DIM, channels=512, rates=(10, 6), kernels=(20, 12), block_kernels=(3, 7, 11),
            block_dilations=((1, 3, 5),) * 3, n_fft=20, hop=5, sample_rate=SAMPLE_RATE,
        )
        self.decoder = Decoder(hidden, STYLE_DIM, generator)

    @torch.inference_mode()
    def forward(self, ids: Tensor, style: Tensor, speed: float = 1.0, noise: Noise = None) -> Spoken:
        """ids int64 [1, phonemes + 2], 0 at both ends; style [1, 256]; noise: see `source.Noise`."""
        timbre, manner = style.split(STYLE_DIM, dim=1)
        encoded = self.predictor.text_encoder(self.bert_encoder(self.bert(ids)), manner)
        durations = self.predictor.durations(encoded, speed)
        pitch, energy = self.predictor.curves(encoded.repeat_interleave(durations, dim=1), manner)
        content = self.text_encoder(ids).repeat_interleave(durations, dim=1).transpose(1, 2)
        return Spoken(self.decoder(content, pitch, energy, timbre, noise).flatten(), durations)
