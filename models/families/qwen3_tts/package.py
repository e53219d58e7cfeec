"""The official package, imported without a word on the console."""
from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TextIO

import torch

_lock = threading.Lock()


def import_package() -> ModuleType:
    """qwen_tts. Raises ModuleNotFoundError when it is not installed.

    On import its 25 Hz codec, which no published checkpoint uses, looks for the sox program through a shell and for
    flash-attn, and prints at length about either; both are kept from it.
    """
    with _lock, _silent_thread(), _placeholder("sox"):
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

        # the package registers one of its own unless there is one, and its own fails on every config of transformers 5
        ROPE_INIT_FUNCTIONS.setdefault("default", _plain_rope)
        import qwen_tts
    return qwen_tts


def _plain_rope(config, device=None, seq_len=None, layer_type=None) -> tuple[torch.Tensor, float]:
    """Inverse frequencies of rotary positions without scaling, and the factor 1 for attention."""
    settings = getattr(config, "rope_parameters", None) or {}
    theta = getattr(config, "rope_theta", None) or settings["rope_theta"]
    share = getattr(config, "partial_rotary_factor", None) or settings.get("partial_rotary_factor", 1.0)
    width = int((getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads) * share)
    steps = torch.arange(0, width, 2, dtype=torch.int64).to(device=device, dtype=torch.float32)
    return 1.0 / theta ** (steps / width), 1.0


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No warnings and no progress bars of transformers meanwhile; its settings are then as before."""
    from transformers.utils import logging

    with _lock:
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()


@contextmanager
def _placeholder(name: str) -> Iterator[None]:
    """An empty module under `name` meanwhile, unless there is one already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]


class _Muted(io.TextIOBase):
    """Drops what one thread writes and passes on what others do."""

    def __init__(self, shown: TextIO):
        self._shown, self._thread = shown, threading.get_ident()

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() == self._thread else self._shown.write(text)

    def flush(self) -> None:
        self._shown.flush()


@contextmanager
def _silent_thread() -> Iterator[None]:
    before = sys.stdout
    sys.stdout = muted = _Muted(before)
    try:
        yield
    finally:
        if sys.stdout is muted:
            sys.stdout = before
