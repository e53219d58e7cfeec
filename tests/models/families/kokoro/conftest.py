from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from models.events import SpeechRequest
from models.families import family
from models.families.kokoro import weights
from models.families.kokoro.engine import Noise
from models.families.kokoro.model import KokoroModel
from models.families.kokoro.network import KokoroNetwork
from models.families.kokoro.torch_engine import empty_network
from models.families.options import defaults_of
from models.families.protocol import ModelSpec, Turn
from models.text.phonemes.alphabet import VOCABULARY

SHORT = "həlˈO wˈɜɹld! ðɪs ɪz ɐ tˈɛst."
LONG = "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˌOvəɹ ðə lˈAzi dˈɔɡ, ænd ðˈɛn ɪt ɹˈʌnz əwˈA ˌɪntʊ ðə fˈɔɹᵻst."


def tokens(phonemes: str) -> Tensor:
    return torch.tensor([[0, *(VOCABULARY[symbol] for symbol in phonemes), 0]])


def snr(made: Tensor, reference: Tensor) -> float:
    """How far `made` is from `reference`, in dB of signal over difference."""
    return float(10 * torch.log10(reference.square().mean() / (made - reference).square().mean()))


def seeded(seed: int = 5) -> Callable[[int], Tensor]:
    """Noise as the torch network takes it."""
    noise = Noise(seed)
    return lambda samples: torch.from_numpy(noise(samples))


@pytest.fixture(scope="session")
def folder() -> Path:
    """The default weights and voices."""
    return family("kokoro").fetch(ModelSpec("kokoro", "kokoro"), print)


@pytest.fixture(scope="session")
def tensors(folder) -> dict[str, Tensor]:
    return load_file(folder / weights.MODEL_FILE)


@pytest.fixture(scope="session")
def network(tensors) -> KokoroNetwork:
    """The torch network in float32, the exact path."""
    made = empty_network()
    made.load_state_dict(tensors, assign=True)
    return made.requires_grad_(False).eval()


@pytest.fixture(scope="session")
def styles(folder) -> Tensor:
    """af_heart (jf_alpha where only the Japanese voices could be had), [510, 256]."""
    stored = load_file(folder / weights.VOICES_FILE)
    return stored.get("af_heart", stored["jf_alpha"]).reshape(510, 256)


def make(path: Path | None = None, voice: str = "", precision: str = "auto", **options) -> KokoroModel:
    info = family("kokoro")
    defaults = defaults_of(info.options)
    spec = ModelSpec("kokoro", "kokoro", path=path, device="cpu", precision=precision, voice=voice,
                     options=defaults | options)
    model = info.create(spec)
    model.load(lambda line: None)
    return model


@pytest.fixture(scope="session")
def model() -> Iterator[KokoroModel]:
    loaded = make()
    yield loaded
    loaded.unload()


@pytest.fixture(scope="session")
def say() -> Callable[..., np.ndarray]:
    """All samples of a request spoken from beginning to end; `turn` to look at what was noted."""

    def spoken(model: KokoroModel, text: str, turn: Turn | None = None, **fields) -> np.ndarray:
        request = SpeechRequest(text=text, **fields)
        plan, turn = model.plan(request), turn or Turn()
        chunks = [chunk for segment in plan.segments for chunk in model.speak(segment, plan, request, turn)]
        return np.concatenate([np.zeros(0, np.float32), *chunks])

    return spoken
