"""From a checkpoint to a network ready to run: every weight checked, nothing random touched."""
from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from models.errors import first_line
from models.families.voxcpm.checkpoint import Checkpoint, broken
from models.families.voxcpm.official import VERSION, Official, official

_NAMED = 4  # weights named in a message before it says "and N more"
_SMALL = 1 << 16  # tensors up to this many numbers go into the fingerprint


@dataclass(frozen=True)
class Loaded:
    """network: the package's model, in its number format, its audio VAE in float32. tokens: text to ids.

    fingerprint: names these weights in this number format; states made with others don't fit.
    """

    network: nn.Module
    tokens: Callable[[str], list[int]]
    second: bool
    fingerprint: str


class Unfilled(TorchFunctionMode):
    """Inside it new layers keep whatever their memory holds: every weight will come from the checkpoint.

    Saves the time of filling them, and leaves torch's random state as it was.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        if func is torch.randn:
            return torch.empty(*args, **kwargs)
        return func(*args, **kwargs)


def load(checkpoint: Checkpoint, model: str, device: str, precision: str,
         progress: Callable[[str], None] = lambda line: None) -> Loaded:
    """Raises SpeechError("weights_broken") naming what is missing, left over or of the wrong shape."""
    package = official(checkpoint.architecture, progress)
    tokens = _tokenizer(checkpoint, model, package)
    try:
        config = package.config.model_validate({**checkpoint.config, "dtype": precision})
        vae_config = package.vae_config.model_validate(checkpoint.config.get("audio_vae_config") or {})
    except ValueError as error:
        raise broken(model, checkpoint.folder, f"its config.json does not fit: {first_line(error)}") from error
    with Unfilled():
        # "cuda" to the letter: the package compiles for no other name of the same device
        network = package.network(config, tokens.tokenizer, package.vae(vae_config), None,
                                  device="cuda" if device == "cuda:0" else device)
    network = network.to(getattr(torch, precision)).eval().requires_grad_(False)
    network.audio_vae.float()
    _fill(network, checkpoint, model)
    for module in network.audio_vae.modules():
        if hasattr(module, "weight_g"):
            nn.utils.remove_weight_norm(module)
    network.audio_vae.requires_grad_(False)
    network.to(device)
    return Loaded(network, tokens, package.second, fingerprint(network, precision))


def fingerprint(network: nn.Module, precision: str) -> str:
    """sha256 over the small weights (norms, biases, stop head): they differ in every training run."""
    hasher = hashlib.sha256(f"{VERSION} {precision}".encode())
    for name, weight in sorted(network.named_parameters()):
        if weight.numel() <= _SMALL:
            hasher.update(name.encode())
            hasher.update(weight.detach().float().cpu().numpy().tobytes())
    return hasher.hexdigest()


def _tokenizer(checkpoint: Checkpoint, model: str, package: Official):
    from transformers import PreTrainedTokenizerFast

    chatter = logging.getLogger("transformers.tokenization_utils_base")  # "the class differs from the one in the config"
    level = chatter.level
    chatter.setLevel(logging.ERROR)
    try:  # the plain class: it reads tokenizer.json to the letter
        return package.wrap_tokenizer(PreTrainedTokenizerFast.from_pretrained(str(checkpoint.folder)))
    except Exception as error:  # the tokenizers library raises bare Exception for a broken file
        raise broken(model, checkpoint.folder, f"its tokenizer.json can't be read: {first_line(error)}") from error
    finally:
        chatter.setLevel(level)


def _fill(network: nn.Module, checkpoint: Checkpoint, model: str) -> None:
    given = _read(checkpoint.weights, model)
    given |= {f"audio_vae.{name}": weight for name, weight in _read(checkpoint.vae, model).items()}
    wanted = network.state_dict()
    problems = []
    if missing := [name for name in wanted if name not in given]:
        problems.append(f"missing: {_named(missing)}")
    if unknown := [name for name in given if name not in wanted]:
        problems.append(f"not of this model: {_named(unknown)}")
    wrong = [f"{name} {list(given[name].shape)} for {list(wanted[name].shape)}" for name in given
             if name in wanted and given[name].shape != wanted[name].shape]
    if wrong:
        problems.append(f"of another shape: {_named(wrong)}")
    if problems:
        raise broken(model, checkpoint.folder, "; ".join(problems))
    network.load_state_dict(given)


def _read(file, model: str) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        if file.suffix == ".safetensors":
            return load_file(file)
        pickled = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, SafetensorError, RuntimeError, EOFError, ValueError) as error:
        raise broken(model, file, f"the file is cut off or damaged: {first_line(error)}") from error
    except Exception as error:  # pickle.UnpicklingError says what it refused to run
        raise broken(model, file, f"it holds more than weights: {first_line(error)}") from error
    return pickled.get("state_dict", pickled)


def _named(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
