"""Where the speaker encoder's weights come from; apart from the encoder, which brings torch."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.weights import pip_package

PACKAGE = ("resemblyzer", "0.1.4")


def fetch(progress: Callable[[str], None] = lambda line: None) -> Path:
    """The file, fetched once. Raises SpeechError("weights_missing")."""
    return pip_package(*PACKAGE, progress) / "resemblyzer" / "pretrained.pt"
