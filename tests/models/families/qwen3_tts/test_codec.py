"""Frames decoded as they come sound like frames decoded in one go."""
from __future__ import annotations

import itertools

import pytest
import torch

from models.families.qwen3_tts.codec import Past, StreamDecoder

FRAMES = 60  # five times the tiny decoder's attention window


@pytest.fixture(scope="module")
def codec(sessions):
    return sessions["base"].model._official.model.speech_tokenizer


@pytest.fixture(scope="module")
def codes() -> torch.Tensor:
    return torch.randint(0, 64, (FRAMES, 4), generator=torch.Generator().manual_seed(0))


def in_pieces(decoder: StreamDecoder, codes: torch.Tensor, sizes) -> torch.Tensor:
    past, at, parts = Past(), 0, []
    for size in itertools.cycle(sizes):
        if at >= len(codes):
            return torch.cat(parts)
        parts.append(decoder.decode(codes[at:at + size], past))
        at += size


@pytest.mark.parametrize("sizes", [(FRAMES,), (1,), (2, 2, 4, 8), (7, 1, 30)])
def test_any_cut_equals_the_official_decoder(codec, codes, sizes):
    whole = torch.from_numpy(codec.decode([{"audio_codes": codes}])[0][0])
    pieces = in_pieces(StreamDecoder(codec.model.decoder), codes, sizes)
    assert pieces.shape == whole.shape == (FRAMES * 1920,)
    assert whole.std() > 0.02 and whole.abs().max() < 1  # there is something to compare, and clipping hides nothing
    torch.testing.assert_close(pieces, whole, atol=2e-4, rtol=0)


def test_without_its_past_a_piece_sounds_otherwise(codec, codes):
    decoder = StreamDecoder(codec.model.decoder)
    whole = decoder.decode(codes, Past())
    alone = decoder.decode(codes[20:], Past())
    assert (alone - whole[20 * 1920:]).abs().max() > 0.05


def test_a_copied_past_goes_on_by_itself(codec, codes):
    decoder, past = StreamDecoder(codec.model.decoder), Past()
    decoder.decode(codes[:15], past)
    size = past.bytes
    first, second = past.copy(), past.copy()
    one = decoder.decode(codes[15:30], first)
    decoder.decode(codes[30:], first)
    assert torch.equal(one, decoder.decode(codes[15:30], second))
    assert past.bytes == size > 0
