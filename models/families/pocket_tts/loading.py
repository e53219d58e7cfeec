"""The official package, loaded without the traces it would leave on the process."""
from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import yaml

from models.errors import SpeechError, first_line
from models.families.pocket_tts.checkpoint import FOLDER_ADVICE, Checkpoint

QUOTED = re.compile('"([^"]+)"')
NAMED = 4  # tensors an error names; the rest is counted


@contextmanager
def untouched() -> Iterator[None]:
    """Importing the package sets torch to one thread, building a network draws from torch's random state, and loading
    installs a root log handler: all of that is as before afterwards."""
    threads, root, package = torch.get_num_threads(), logging.getLogger(), logging.getLogger("pocket_tts")
    level, silent = package.level, logging.NullHandler()
    root.addHandler(silent)  # logging.info() makes a console handler only where there is none
    package.setLevel(logging.ERROR)
    try:
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        package.setLevel(level)
        root.removeHandler(silent)
        torch.set_num_threads(threads)


def load_official(checkpoint: Checkpoint, model: str, quantize: bool = False):
    """The package's TTSModel in float32 on the CPU; with `quantize`, its backbone's matrices in int8.

    Raises SpeechError: weights_broken, package_missing.
    """
    with untouched():
        try:
            from pocket_tts import TTSModel
        except ImportError as error:
            raise SpeechError("package_missing", model=model, package=f"pocket-tts ({error})", family="pocket_tts") from error
        handle, name = tempfile.mkstemp(suffix=".yaml")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                yaml.safe_dump(checkpoint.config, file)
            return TTSModel.load_model(config=name, quantize=quantize).eval().requires_grad_(False)
        except ImportError as error:  # torch builds without its own quantisation need torchao
            raise SpeechError("package_missing", model=model, package=f"torchao ({error})", family="pocket_tts") from error
        except Exception as error:  # pydantic, safetensors, torch and the tokenizers each raise their own kinds
            raise SpeechError("weights_broken", "path", model=model, path=checkpoint.folder, reason=_reason(error),
                              advice=FOLDER_ADVICE) from error
        finally:
            Path(name).unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    """In one line, what is wrong; for weights that don't fit, which tensors."""
    text = str(error).strip()
    found = []
    for words, start in (("missing", "Missing key"), ("unexpected", "Unexpected key")):
        for line in re.findall(rf"{start}\(s\) in state_dict: (.*)", text):
            found.append(f"{words}: {_some(QUOTED.findall(line))}")
    if shapes := re.findall(r"size mismatch for (\S+?):", text):
        found.append(f"of another shape: {_some(shapes)}")
    return "; ".join(found) or first_line(error)[:300]


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def fingerprint(checkpoint: Checkpoint) -> str:
    """sha256 of the weights, as hex: what a voice state was made with."""
    whole = hashlib.sha256()
    for path in checkpoint.weights:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()
