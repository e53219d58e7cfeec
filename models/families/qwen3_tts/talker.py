"""The talker, frame by frame: the official prompt, the official networks, and a loop that hands out each frame at once.

The package's own loop is transformers' `generate`, which returns when all is said. Here the prompt is taken at the
moment the package hands it to that loop, and the loop is a generator: it can be left between any two frames.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from qwen_tts import Qwen3TTSModel


@dataclass(frozen=True)
class Prompt:
    """embeds: [1, positions, width] of all that is known beforehand. trailing: [1, n, width] of text that is added to
    the first n frames, `pad` to those after. settings: sampling, as the package merged it for `generate`."""

    embeds: Tensor
    trailing: Tensor
    pad: Tensor
    settings: dict


class _Taken(Exception):
    """The prompt is complete."""


class Talker:
    """official: the package's wrapper. Not for two threads at once."""

    def __init__(self, official: Qwen3TTSModel):
        self._talker = official.model.talker
        self._predictor = self._talker.code_predictor
        self._eos = official.model.config.talker_config.codec_eos_token_id
        self._groups = self._talker.config.num_code_groups

    def prompt(self, call: Callable[[], object]) -> Prompt:
        """What `call`, one of the wrapper's generate methods, would start to speak from."""
        taken: dict = {}

        def take(**values) -> None:
            taken.update(values)
            raise _Taken

        self._talker.generate = take
        try:
            call()
        except _Taken:
            pass
        finally:
            del self._talker.generate
        mask = taken.pop("attention_mask")
        assert bool(mask.all()), "one text at a time needs no padding"
        return Prompt(taken.pop("inputs_embeds"), taken.pop("trailing_text_hidden"), taken.pop("tts_pad_embed"), taken)

    def frames(self, prompt: Prompt, generator: torch.Generator, limit: int,
               spoken: Tensor | None = None) -> Iterator[Tensor]:
        """Codes [1, groups] of one frame after another, until the model ends or `limit` frames are made.

        spoken: [frames, groups] that count as said already; needs a prompt whose text is all in `embeds`.
        """
        from transformers import DynamicCache

        main, detail = Sampler.main(prompt.settings, prompt.embeds.device), Sampler.detail(prompt.settings)
        cache, embeds = DynamicCache(), prompt.embeds
        said = torch.zeros((1, 0), dtype=torch.long, device=embeds.device)
        if spoken is not None:
            embeds, said = self._continued(prompt, spoken)
        hidden = self._step(embeds, cache)
        for number in range(limit):
            token = self._first_code(hidden, main, said, generator)
            if token.item() == self._eos:
                return
            said = torch.cat([said, token], 1)
            codes, embeds = self._details(hidden, token, detail, generator)
            yield codes
            if number + 1 == limit:
                return
            text = prompt.trailing[:, number:number + 1] if number < prompt.trailing.shape[1] else prompt.pad
            hidden = self._step(embeds + text, cache)

    @torch.inference_mode()
    def _continued(self, prompt: Prompt, spoken: Tensor) -> tuple[Tensor, Tensor]:
        tables = self._tables()
        embeds = sum(table(spoken[:, group]) for group, table in enumerate(tables))[None] + prompt.pad
        return torch.cat([prompt.embeds, embeds], 1), spoken[None, :, 0]

    @torch.inference_mode()
    def _step(self, embeds: Tensor, cache: object) -> Tensor:
        """Hidden state [1, 1, width] after the new positions."""
        out = self._talker.model(inputs_embeds=embeds, past_key_values=cache, use_cache=True)
        return out.last_hidden_state[:, -1:]

    @torch.inference_mode()
    def _first_code(self, hidden: Tensor, sampler: Sampler, said: Tensor, generator: torch.Generator) -> Tensor:
        return sampler(self._talker.codec_head(hidden)[:, -1], said, generator)

    @torch.inference_mode()
    def _details(self, hidden: Tensor, token: Tensor, sampler: Sampler,
                 generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The frame's codes [1, groups], the first of which is known, and the sum of their embeddings [1, 1, width]."""
        from transformers import DynamicCache

        predictor, tables = self._predictor, self._tables()
        cache, codes = DynamicCache(), [token]
        total = tables[0](token)
        inputs = torch.cat([hidden, total], 1)
        for group in range(1, self._groups):
            inputs = predictor.small_to_mtp_projection(inputs)
            out = predictor.model(inputs_embeds=inputs, past_key_values=cache, use_cache=True)
            logits = predictor.lm_head[group - 1](out.last_hidden_state[:, -1])
            codes.append(sampler(logits, token, generator))
            inputs = tables[group](codes[-1])
            total = total + inputs
        return torch.cat(codes, 1), total

    def _tables(self) -> list[torch.nn.Module]:
        """The embedding of each code group."""
        return [self._talker.get_input_embeddings(), *self._predictor.get_input_embeddings()]


class Sampler:
    """One code from its logits, by transformers' own processors in the order `generate` applies them."""

    def __init__(self, sample: bool, processors: list):
        self._sample, self._processors = sample, processors

    @classmethod
    def main(cls, settings: dict, device: torch.device) -> Sampler:
        """For the first code of a frame, the one that also says when to end."""
        from transformers import generation

        processors = []
        if settings["repetition_penalty"] != 1.0:
            processors.append(generation.RepetitionPenaltyLogitsProcessor(settings["repetition_penalty"]))
        processors += [
            generation.MinNewTokensLengthLogitsProcessor(0, settings["min_new_tokens"], settings["eos_token_id"],
                                                         device),
            generation.SuppressTokensLogitsProcessor(settings["suppress_tokens"], device),
        ]
        return cls(settings["do_sample"], processors + _warpers(settings, ""))

    @classmethod
    def detail(cls, settings: dict) -> Sampler:
        """For the other codes."""
        return cls(settings["subtalker_dosample"], _warpers(settings, "subtalker_"))

    def __call__(self, logits: Tensor, said: Tensor, generator: torch.Generator) -> Tensor:
        """[1, 1] from logits [1, codes] after the codes `said` [1, n]."""
        scores = logits.float()
        for processor in self._processors:
            scores = processor(said, scores)
        if not self._sample:
            return scores.argmax(-1, keepdim=True)
        return torch.multinomial(torch.softmax(scores, -1), 1, generator=generator)


def _warpers(settings: dict, prefix: str) -> list:
    """What bends the distribution when one samples; nothing of it changes the likeliest code."""
    from transformers import generation

    temperature, top_k, top_p = (settings[prefix + name] for name in ("temperature", "top_k", "top_p"))
    warpers = []
    if temperature not in (0.0, 1.0):
        warpers.append(generation.TemperatureLogitsWarper(float(temperature)))
    if top_k:
        warpers.append(generation.TopKLogitsWarper(top_k))
    if top_p < 1.0:
        warpers.append(generation.TopPLogitsWarper(top_p))
    return warpers
