"""From a checkpoint to the official package's model, whole and in the right number format."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from models.errors import SpeechError
from models.families.qwen3_tts.checkpoint import Checkpoint, broken, tensor_shapes
from models.families.qwen3_tts.package import import_package, quiet_transformers

if TYPE_CHECKING:
    from qwen_tts import Qwen3TTSModel

RECOMPUTED = ("inv_freq", ".initialized")  # tensors some versions save and none needs
SHOWN = 6  # names in an error


def load_official(checkpoint: Checkpoint, device: str, precision: str, model: str) -> Qwen3TTSModel:
    """The official wrapper, ready to run: talker and speaker encoder in `precision`, the codec in float32.

    Raises SpeechError("weights_broken") naming tensors that are missing, left over or of the wrong shape, and
    SpeechError("weights_missing") when the package is not installed. torch's random state stays as it was.
    """
    try:
        package = import_package()
    except ModuleNotFoundError as error:
        raise SpeechError("weights_missing", model=model, reason=f"the package {error.name} is not installed",
                          advice="run `bash start.sh --with qwen3_tts` once") from error
    with _random_state_kept(), quiet_transformers():
        _check(checkpoint, model)
        try:
            official = package.Qwen3TTSModel.from_pretrained(str(checkpoint.folder), dtype="auto",
                                                             local_files_only=True)
        except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
            raise broken(model, checkpoint.folder, str(error).strip().splitlines()[0]) from error
    codec = official.model.speech_tokenizer
    _place(official.model, device, getattr(torch, precision))
    _place(codec.model, device, torch.float32)
    official.device = codec.device = torch.device(device)
    return official


def _check(checkpoint: Checkpoint, model: str) -> None:
    """Tensor by tensor: transformers itself fills gaps with random numbers and only logs it."""
    from qwen_tts.core import Qwen3TTSTokenizerV2Config, Qwen3TTSTokenizerV2Model
    from qwen_tts.core.models import Qwen3TTSConfig, Qwen3TTSForConditionalGeneration

    folder = checkpoint.folder
    parts = (
        (folder, checkpoint.talker_files, Qwen3TTSConfig, Qwen3TTSForConditionalGeneration),
        (folder / "speech_tokenizer", checkpoint.codec_files, Qwen3TTSTokenizerV2Config, Qwen3TTSTokenizerV2Model),
    )
    for folder, files, config, network in parts:
        try:
            with torch.device("meta"):
                wanted = {name: tuple(tensor.shape) for name, tensor in
                          network(config.from_pretrained(folder)).state_dict().items()}
            found = tensor_shapes(files)
        except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
            raise broken(model, folder, str(error).strip().splitlines()[0]) from error
        _compare(wanted, found, folder, model)


def _compare(wanted: dict[str, tuple], found: dict[str, tuple], folder: Path, model: str) -> None:
    needed = {name for name in wanted if not name.endswith(RECOMPUTED)}
    if missing := sorted(needed - found.keys()):
        raise broken(model, folder, f"weights missing: {_some(missing)}")
    if unexpected := sorted(name for name in found.keys() - wanted.keys() if not name.endswith(RECOMPUTED)):
        raise broken(model, folder, f"weights that do not belong there: {_some(unexpected)}")
    wrong = sorted(name for name in needed if wanted[name] != found[name])
    if wrong:
        shapes = [f"{name} is {list(found[name])}, not {list(wanted[name])}" for name in wrong]
        raise broken(model, folder, f"weights of another shape: {_some(shapes)}")


def _some(names: list[str]) -> str:
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _place(network: torch.nn.Module, device: str, dtype: torch.dtype) -> None:
    """Parameters to device and dtype, buffers to the device only: rotary frequencies must stay float32."""
    network.to(device).eval().requires_grad_(False)
    for parameter in network.parameters():
        parameter.data = parameter.data.to(dtype)


@contextmanager
def _random_state_kept() -> Iterator[None]:
    state = torch.random.get_rng_state()
    try:
        yield
    finally:
        torch.random.set_rng_state(state)
