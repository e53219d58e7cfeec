"""Pocket TTS's network, run frame by frame with the official package's own modules.

On a CPU the codec decodes a chunk on a thread of its own while the backbone makes the next one's frames.
"""
from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from models.families.pocket_tts.half import halve
from models.families.pocket_tts.states import VoiceState
from models.families.pocket_tts.threads import alone
from models.families.pocket_tts.working import Working

FEWEST_FRAMES = 6  # before which the package doesn't believe the end-of-text signal
TOKENS_PER_SECOND, EXTRA_SECONDS = 3.0, 2.0  # the package's bound on how long a text can take to say
LONGEST_PIECE = 50  # tokens the model speaks in one go without skipping words (the package's MAX_TOKEN_PER_CHUNK)
FADE = 0.005  # seconds in which a fresh decoder's first step is faded in
CHUNKS = (1, 1)  # frames of the first chunks; later ones have two, which decode in two thirds of the time


@dataclass(frozen=True)
class Settings:
    """temperature: variance of the noise a frame starts from. eos_threshold: logit. Times in frames."""

    temperature: float
    eos_threshold: float
    decode_steps: int = 1
    noise_clamp: float | None = None
    frames_after_eos: int | None = None


class Network:
    """tts: the package's TTSModel. precision: "int8" for one that is quantised already. keep: hold on to working caches between segments."""

    def __init__(self, tts, device: str, precision: str, keep: bool = True):
        if precision in ("float16", "bfloat16"):
            halve(tts.flow_lm.transformer, getattr(torch, precision))
        self.tts = tts.to(device)
        self.device, self.keep = torch.device(device), keep
        self.sample_rate, self.frame_size = tts.sample_rate, tts.mimi.frame_size
        self._steps = int(tts.mimi.encoder_frame_rate / tts.mimi.frame_rate)
        self._flow_layers = self._stateful(tts.flow_lm)
        self._decoder_layers = {name: module for name, module in self._stateful(tts.mimi).items()
                                if not name.startswith(("encoder", "downsample"))}
        self._spare: dict[str, Working] = {}
        self._beside = ThreadPoolExecutor(1, "pocket-tts-codec", alone) if device == "cpu" else None

    def close(self) -> None:
        if self._beside is not None:
            self._beside.shutdown()

    @staticmethod
    def _stateful(module: torch.nn.Module) -> dict[str, torch.nn.Module]:
        from pocket_tts.modules.stateful_module import StatefulModule

        return {name: part for name, part in module.named_modules() if isinstance(part, StatefulModule)}

    def defaults(self) -> Settings:
        return Settings(self.tts.temp, self.tts.eos_threshold)

    # -- voices

    @torch.inference_mode()
    def encode(self, samples: np.ndarray, sample_rate: int) -> VoiceState:
        """The state of a voice from its clip: float32 mono samples at any rate."""
        from pocket_tts.data.audio_utils import convert_audio, end_on_pause

        audio = torch.from_numpy(np.array(samples, np.float32))[None]
        audio = end_on_pause(convert_audio(audio, sample_rate, self.sample_rate, 1), self.sample_rate)
        latents = self.tts.mimi.encode_to_latent(audio[None].to(self.device)).to(torch.float32)
        prompt = torch.nn.functional.linear(latents, self.tts.flow_lm.speaker_proj_weight)
        return self._prefill(prompt)

    @torch.inference_mode()
    def blank(self) -> VoiceState:
        """The shortest state there is: a pattern for the shapes of all others."""
        return self._prefill(torch.zeros(1, 1, self.tts.flow_lm.dim, device=self.device))

    def _prefill(self, prompt: torch.Tensor) -> VoiceState:
        flow = self.tts.flow_lm
        if flow.insert_bos_before_voice:
            prompt = torch.cat([flow.bos_before_voice, prompt], 1)
        length = prompt.shape[1]
        state = {name: layer.init_state(1, sequence_length=length) for name, layer in self._flow_layers.items()}
        flow.transformer(prompt, state)
        return VoiceState({name: layer["cache"] for name, layer in state.items()}, length)

    # -- speech

    def tokens(self, text: str) -> int:
        return self.tts.flow_lm.conditioner.tokenizer(text).shape[1]

    def prepared(self, text: str) -> tuple[str, int]:
        """The text as the model wants it (capital, full stop), and how many frames should follow its last word."""
        from pocket_tts.models.text_chunking import prepare_text_prompt

        tts = self.tts
        text, guess = prepare_text_prompt(
            text, tts.pad_with_spaces_for_short_inputs, tts.remove_semicolons, tts.append_terminal_punctuation,
            tts.capitalize_first_letter, tts.replace_characters)
        recommended = tts.model_recommended_frames_after_eos
        return text, guess + 2 if recommended is None else recommended

    def longest(self, tokens: int) -> int:
        """Frames after which speech of so many tokens is taken to have run away."""
        return int(np.ceil((tokens / TOKENS_PER_SECOND + EXTRA_SECONDS) * self.tts.mimi.frame_rate))

    def speak(self, text: str, voice: VoiceState, settings: Settings, generator: torch.Generator) -> Iterator[np.ndarray]:
        """float32 samples of one piece of text, a chunk of one or two 80 ms frames at a time."""
        text, after = self.prepared(text)
        after = after if settings.frames_after_eos is None else settings.frames_after_eos
        tokens = self.tts.flow_lm.conditioner.prepare(text)
        most = self.longest(tokens.shape[1])
        with self._borrowed("flow", self._flow_layers) as flow, self._borrowed("decoder", self._decoder_layers) as decoder:
            self._reset(decoder, most * self._steps)
            chunks = self._chunks(self._frames(tokens, voice, flow, most, after, settings, generator))
            yield from self._decoded(chunks, decoder)

    @torch.inference_mode()
    def _frames(self, tokens: torch.Tensor, voice: VoiceState, working: Working, most: int, after: int,
                settings: Settings, generator: torch.Generator) -> Iterator[torch.Tensor]:
        """Latents of shape (1, 1, channels), one a frame, until the text is over or `most` have come."""
        flow = self.tts.flow_lm
        working.reset(voice.length + tokens.shape[1] + most)
        for name, layer in working.state.items():
            layer["cache"][:, :, :voice.length] = voice.caches[name]
        working.advance(voice.length)
        self._noise(settings, generator)  # the package draws once while it reads the text, and throws it away
        text, ended = flow.conditioner(tokens), None
        latent = flow.bos_emb.view(1, 1, -1)
        for number in range(most):
            step = flow.input_linear(latent)
            if number == 0:  # text and first frame in one pass over the weights
                step = torch.cat([text, step], 1)
            out = flow.out_norm(flow.transformer(step, working.state))[:, -1]
            working.advance(step.shape[1])
            if flow.z_proj is not None:
                out = flow.z_proj(out)
            out = out.to(torch.float32)
            over = bool(flow.out_eos(out) > settings.eos_threshold)
            if over and ended is None and number >= FEWEST_FRAMES:
                ended = number
            if ended is not None and number >= ended + after:
                return
            latent = self._sample(out, settings, generator)[:, None]
            yield latent

    @staticmethod
    def _chunks(frames: Iterator[torch.Tensor]) -> Iterator[torch.Tensor]:
        """Frames as they are decoded, joined along time."""
        sizes, waiting = iter(CHUNKS), []
        size = next(sizes)
        for frame in frames:
            waiting.append(frame)
            if len(waiting) == size:
                yield torch.cat(waiting, 1)
                waiting, size = [], next(sizes, 2)
        if waiting:
            yield torch.cat(waiting, 1)

    def _decoded(self, chunks: Iterator[torch.Tensor], working: Working) -> Iterator[np.ndarray]:
        """Samples of each chunk: the first at once, the later ones while the next is being made."""
        if self._beside is None:
            for number, chunk in enumerate(chunks):
                yield self._decode(chunk, working, number == 0)
            return
        pending = None
        try:
            for number, chunk in enumerate(chunks):
                if pending is not None:
                    samples, pending = pending.result(), None
                    pending = self._beside.submit(self._decode, chunk, working, False)
                    yield samples
                elif number == 0:
                    yield self._beside.submit(self._decode, chunk, working, True).result()
                else:
                    pending = self._beside.submit(self._decode, chunk, working, False)
            if pending is not None:
                samples, pending = pending.result(), None
                yield samples
        finally:
            if pending is not None:  # broken off: its buffers are not free before it is done
                pending.exception()

    def _noise(self, settings: Settings, generator: torch.Generator) -> torch.Tensor:
        """From the request's own generator, on the CPU: the same seed sounds the same on every device."""
        noise, std, clamp = torch.empty(1, self.tts.flow_lm.ldim), settings.temperature ** 0.5, settings.noise_clamp
        if std == 0:
            return noise.zero_()
        if clamp is None:
            return noise.normal_(0.0, std, generator=generator)
        return torch.nn.init.trunc_normal_(noise, 0.0, std, -clamp, clamp, generator=generator)

    def _sample(self, out: torch.Tensor, settings: Settings, generator: torch.Generator) -> torch.Tensor:
        from pocket_tts.models import flow_lm

        decode = {"lsd": flow_lm.lsd_decode, "flow_matching": flow_lm.ot_decode, "drifting": flow_lm.drifting_decode,
                  "pointwise": flow_lm.pointwise_decode}[self.tts.flow_lm.flow_type]
        noise = self._noise(settings, generator).to(self.device)
        return decode(partial(self.tts.flow_lm.flow_net, out), noise, settings.decode_steps)

    @torch.inference_mode()
    def _reset(self, working: Working, positions: int) -> None:
        working.reset(positions)

    @torch.inference_mode()
    def _decode(self, latents: torch.Tensor, working: Working, first: bool) -> np.ndarray:
        flow, count = self.tts.flow_lm, latents.shape[1]
        latents = latents * flow.emb_std + flow.emb_mean
        samples = self.tts.mimi.decode_from_latent(latents, working.state)[0, 0].float()
        working.advance(self._steps * count)
        if first:
            ramp = torch.linspace(0, 1, round(FADE * self.sample_rate), device=samples.device)
            samples[:len(ramp)] *= ramp[:len(samples)]
        return samples.clamp_(-1, 1).cpu().numpy()

    @contextmanager
    def _borrowed(self, kind: str, layers: dict[str, torch.nn.Module]) -> Iterator[Working]:
        """A working state nobody else uses; it goes back when the piece is spoken or broken off, and is reset before use."""
        working = self._spare.pop(kind, None) or Working(layers)
        try:
            yield working
        finally:
            if self.keep:
                self._spare[kind] = working
