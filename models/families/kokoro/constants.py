"""Figures of Kokoro's network that hold whoever runs it."""
from __future__ import annotations

SAMPLE_RATE = 24_000
STYLE_DIM = 128  # a voice row is two of them: the decoder's style, then prosody's
MAX_PHONEMES = 510  # ALBERT's 512 positions less the boundary token on each side
SAMPLES_PER_FRAME = 600  # a duration of 1 is 25 ms
