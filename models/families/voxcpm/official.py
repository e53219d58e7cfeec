"""The official package, `voxcpm` on PyPI, without its chatter.

Only its networks, configuration classes and tokenizer wrapper are used. Its wheel asks for the training and page
libraries too (about sixty packages), which nothing here imports: so the wheel alone is fetched when it isn't installed.
"""
from __future__ import annotations

import importlib
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from models.weights import pip_package

VERSION = "2.0.3"
_lock = threading.Lock()


@dataclass(frozen=True)
class Official:
    """The classes of one generation of the model. second: VoxCPM 2 (reference prefix, 48 kHz out, 16 kHz in)."""

    second: bool
    config: type
    network: type
    vae: type
    vae_config: type
    wrap_tokenizer: Callable[[Any], Callable[[str], list[int]]]


def fetch(progress: Callable[[str], None] = lambda line: None) -> Path:
    """The folder the package is imported from. Raises SpeechError("weights_missing") when it can't be had."""
    return pip_package("voxcpm", VERSION, progress)


def official(architecture: str, progress: Callable[[str], None] = lambda line: None) -> Official:
    """The package's classes for config.json's `architecture` ("voxcpm" or "voxcpm2").

    Raises SpeechError("weights_missing") when the package can't be had.
    """
    with _lock:
        folder = str(fetch(progress))
        if folder not in sys.path:
            sys.path.insert(0, folder)
        for message in ("`torch.jit.script` is deprecated", "`torch.nn.utils.weight_norm` is deprecated"):
            warnings.filterwarnings("ignore", message=message, category=FutureWarning)
        second = architecture == "voxcpm2"
        model = _quiet(importlib.import_module(f"voxcpm.model.{architecture}"))
        vae = importlib.import_module("voxcpm.modules.audiovae")
        utils = importlib.import_module("voxcpm.model.utils")
    return Official(
        second=second, config=model.VoxCPMConfig, network=model.VoxCPM2Model if second else model.VoxCPMModel,
        vae=vae.AudioVAEV2 if second else vae.AudioVAE,
        vae_config=vae.AudioVAEConfigV2 if second else vae.AudioVAEConfig,
        wrap_tokenizer=utils.mask_multichar_chinese_tokens,
    )


def _quiet(module: ModuleType) -> ModuleType:
    """Its constructor prints device and number format."""
    module.print = lambda *args, **options: None
    return module
