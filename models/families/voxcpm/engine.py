"""The network at work: voices to states, text to patches. Belongs to one thread.

Sequence (VoxCPM technical reports): [reference start, reference patches, reference end] of VoxCPM 2, then text tokens
and audio start, then the patches of a clip to be continued, then those that are made, each fed back as it comes.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from models.families.voxcpm.decoder import StreamingDecoder
from models.families.voxcpm.loading import Loaded
from models.families.voxcpm.stack import Stack
from models.families.voxcpm.voice import VoiceState

AUDIO_START, REFERENCE_START, REFERENCE_END = 101, 103, 104
CONTEXT_PATCHES = 3  # of a clip's end, run through the decoder before the first new patch
MIN_PATCHES = 4  # the stop signal counts from here on, as in the package


@dataclass(frozen=True)
class Sampling:
    """cfg_value: guidance. timesteps: of the diffusion. temperature: scale of its noise. noise: where that comes from."""

    cfg_value: float
    timesteps: int
    temperature: float
    noise: torch.Generator


class Engine:
    """loaded: the checkpoint. compiled: its step functions are compiled.

    patch_seconds: sound of one patch. clip_rate: Hz a clip must have. encoded: clips encoded so far.
    """

    def __init__(self, loaded: Loaded, compiled: bool = False):
        self.network, self.second, self.tokens = loaded.network, loaded.second, loaded.tokens
        vae = self.network.audio_vae
        self.clip_rate: int = vae.sample_rate
        self.sample_rate: int = getattr(vae, "out_sample_rate", vae.sample_rate)
        self.patch_frames: int = self.network.patch_size
        self.patch_samples: int = self.patch_frames * getattr(vae, "decode_chunk_size", vae.chunk_size)
        self.patch_seconds = self.patch_samples / self.sample_rate
        self.device = next(vae.parameters()).device
        self.dtype = self.network.enc_to_lm_proj.weight.dtype
        self.base = Stack(self.network.base_lm, compiled)
        self.residual = Stack(self.network.residual_lm, compiled)
        self.capacity = min(self.base.capacity, self.residual.capacity)
        self._encoder = getattr(self.network, "_feat_encoder_raw", self.network.feat_encoder)  # not the compiled one

    def release(self) -> None:
        """Give working memory back."""
        self.base.release()
        self.residual.release()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def decoder(self, voice: VoiceState | None, continues: bool, noise: torch.Generator) -> StreamingDecoder:
        return StreamingDecoder(self.network.audio_vae, voice.context if voice and continues else None, noise)

    # -- voices

    @torch.inference_mode()
    def voice(self, samples: np.ndarray, transcript: str) -> VoiceState:
        """samples: float32 mono at clip_rate. VoxCPM 0.5B and 1.5 need a transcript; with "" VoxCPM 2 takes the
        voice alone. Leaves the stacks holding the voice."""
        empty = torch.empty(0, self.network.config.lm_config.hidden_size, device=self.device, dtype=self.dtype)
        head, patches, last, context = empty, empty, self._silence(), {}
        if self.second:
            start, end = self._embed_tokens([REFERENCE_START]), self._embed_tokens([REFERENCE_END])
            head = torch.cat([start, self._embed_patches(self.encode(samples, pad_left=False)), end])
        if transcript:
            latents = self.encode(samples, pad_left=True)  # so that its end is the clip's
            patches, last, context = self._embed_patches(latents), latents[-1].to(self.dtype), self._past(latents)
        tokens = tuple(self.tokens(transcript)) if transcript else ()
        self.base.restart()
        self.residual.restart()
        prefix = torch.cat([head, self._embed_tokens(tokens)])
        is_audio = torch.zeros(len(prefix), dtype=torch.bool, device=self.device)
        is_audio[1:len(head) - 1] = len(head) > 0
        self._prefill(prefix, is_audio)
        return VoiceState(self.base.held(len(prefix)), self.residual.held(len(prefix)), len(head), transcript, tokens,
                          patches, last, context)

    @torch.inference_mode()
    def encode(self, samples: np.ndarray, pad_left: bool) -> Tensor:
        """float32 mono samples at clip_rate to latents, [T, P, D] float32."""
        vae = self.network.audio_vae
        size = self.patch_frames * vae.chunk_size
        spare = -len(samples) % size
        samples = np.pad(samples, (spare, 0) if pad_left else (0, spare))
        latents = vae.encode(torch.from_numpy(samples).to(self.device)[None], vae.sample_rate)
        return latents[0].reshape(vae.latent_dim, -1, self.patch_frames).permute(1, 2, 0).contiguous()

    def _past(self, latents: Tensor) -> dict[str, Tensor]:
        decoder = StreamingDecoder(self.network.audio_vae)
        decoder.decode(_frames(latents[-CONTEXT_PATCHES:]))
        return decoder.context

    # -- speech

    def utterance(self, text: str, voice: VoiceState | None, continues: bool, sampling: Sampling) -> Utterance:
        """text: as it goes to the tokenizer. continues: go on from the voice's clip, not only sound like it."""
        return Utterance(self, text, voice, continues, sampling)

    @torch.inference_mode()
    def begin(self, text: str, voice: VoiceState | None, continues: bool) -> tuple[Tensor, Tensor]:
        """Put the voice back and read the text on top of it. Returns the last hidden states of both language models."""
        head = voice.head if voice else 0
        tokens = [*self.tokens(voice.transcript + text if voice and continues else text), AUDIO_START]
        known = _shared(voice.tokens, tokens) if voice and continues else 0
        for stack, held in ((self.base, voice.base if voice else None), (self.residual, voice.residual if voice else None)):
            stack.restart(None if held is None else held[:, :, :, :head + known])
        new = self._embed_tokens(tokens[known:])
        patches = voice.patches if voice and continues else new[:0]
        is_audio = torch.arange(len(new) + len(patches), device=self.device) >= len(new)
        return self._prefill(torch.cat([new, patches]), is_audio)

    def needs(self, text: str, voice: VoiceState | None, continues: bool) -> int:
        """Positions taken before the first new patch."""
        if voice is None:
            return len(self.tokens(text)) + 1
        if not continues:
            return voice.head + len(self.tokens(text)) + 1
        return voice.head + len(self.tokens(voice.transcript + text)) + 1 + len(voice.patches)

    def _prefill(self, x: Tensor, is_audio: Tensor) -> tuple[Tensor, Tensor]:
        """x: [T, width]. Returns the last position's hidden states, [1, width] each."""
        if not len(x):
            return x, x
        x, is_audio = x[None], is_audio[None, :, None]
        hidden = self.base.extend(x)
        hidden = torch.where(is_audio, self.network.fsq_layer(hidden), hidden)
        residual = self.residual.extend(self._fuse(hidden, torch.where(is_audio, x, 0)))
        return hidden[:, -1], residual[:, -1]

    def feed(self, embedding: Tensor) -> tuple[Tensor, Tensor]:
        """One made patch, [1, 1, width], read back in."""
        hidden = self.network.fsq_layer(self.base.extend(embedding))
        return hidden[:, -1], self.residual.extend(self._fuse(hidden, embedding))[:, -1]

    def _fuse(self, hidden: Tensor, audio: Tensor) -> Tensor:
        if self.second:
            return self.network.fusion_concat_proj(torch.cat([hidden, audio], dim=-1))
        return hidden + audio

    def patch(self, hidden: Tensor, residual: Tensor, last: Tensor, sampling: Sampling) -> Tensor:
        """The next patch, [1, D, P], by conditional flow matching: Euler steps over a swayed schedule."""
        network = self.network
        parts = network.lm_to_dit_proj(hidden), network.res_to_dit_proj(residual)
        condition = torch.cat(parts, dim=-1) if self.second else parts[0] + parts[1]
        noise = torch.randn((1, network.feat_dim, self.patch_frames), generator=sampling.noise, device=self.device,
                            dtype=self.dtype) * sampling.temperature
        times = torch.linspace(1, 0, sampling.timesteps + 1, device=self.device, dtype=self.dtype)
        times = times + (torch.cos(torch.pi / 2 * times) - 1 + times)
        return network.feat_decoder.solve_euler(noise, times, condition, last, cfg_value=sampling.cfg_value)

    def stops(self, hidden: Tensor) -> bool:
        network = self.network
        return bool(network.stop_head(network.stop_actn(network.stop_proj(hidden))).argmax(dim=-1)[0] == 1)

    def _embed_tokens(self, tokens) -> Tensor:
        lm = self.network.config.lm_config
        ids = torch.tensor(list(tokens), dtype=torch.int64, device=self.device)
        return self.network.base_lm.embed_tokens(ids) * (lm.scale_emb if lm.use_mup else 1.0)

    def _embed_patches(self, latents: Tensor) -> Tensor:
        return self.network.enc_to_lm_proj(self._encoder(latents[None].to(self.dtype)))[0]

    def embed_made(self, patch: Tensor) -> Tensor:
        """[1, D, P] to [1, 1, width], through the compiled encoder where there is one."""
        return self.network.enc_to_lm_proj(self.network.feat_encoder(patch.transpose(1, 2)[:, None]))

    def _silence(self) -> Tensor:
        return torch.zeros(self.patch_frames, self.network.feat_dim, device=self.device, dtype=self.dtype)


class Utterance:
    """One text being spoken. Its memory is the engine's stacks: begin another and this one is over.

    ended: the model said that it is done.
    """

    def __init__(self, engine: Engine, text: str, voice: VoiceState | None, continues: bool, sampling: Sampling):
        self._engine, self._sampling, self._text = engine, sampling, text
        self._head = voice.head if voice else 0
        self.hidden, self.residual = engine.begin(text, voice, continues)
        last = voice.last if voice and continues else engine._silence()
        self._last = last.T[None].contiguous()
        self._embeddings: list[Tensor] = []
        self._unread: Tensor | None = None
        self.ended = False

    @torch.inference_mode()
    def patch(self) -> Tensor:
        """Make the next patch of latents, [1, D, P] in the network's number format, and notice whether it is the last."""
        engine = self._engine
        if self._unread is not None:
            self.hidden, self.residual = engine.feed(self._unread)
        patch = engine.patch(self.hidden, self.residual, self._last, self._sampling)
        self._unread = engine.embed_made(patch).clone()
        self._embeddings.append(self._unread[0])
        self._last = patch.contiguous()
        self.ended = len(self._embeddings) >= MIN_PATCHES and engine.stops(self.hidden)
        return patch

    @torch.inference_mode()
    def as_voice(self, decoder: StreamingDecoder) -> VoiceState:
        """What was spoken, as a voice to go on in. Only for a text spoken in no other voice, before another begins."""
        tokens = tuple(self._engine.tokens(self._text))
        return VoiceState(self._engine.base.held(len(tokens)), self._engine.residual.held(len(tokens)), 0, self._text,
                          tokens, torch.cat(self._embeddings), self._last[0].T.contiguous(), decoder.context)


def _frames(latents: Tensor) -> Tensor:
    """[T, P, D] to [1, D, T * P]."""
    return latents.reshape(1, -1, latents.shape[-1]).transpose(1, 2).float()


def _shared(known: tuple[int, ...], tokens: list[int]) -> int:
    """How many tokens both begin with."""
    count = 0
    for one, other in zip(known, tokens):
        if one != other:
            break
        count += 1
    return count
