"""An inaudible mark in sound, and `python -m models.audio.watermark FILE` that looks for it.

Perth (Resemble AI, MIT, PyPI resemble-perth), whose weights its package carries.

Its network adds a residual to the spectrogram below 2 kHz at 32 kHz. Only that residual is taken over, at the sound's own
rate and faded at the ends, so that pieces of a stream can be marked one by one and nothing else of them changes.
"""
from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
import threading
import types
from functools import lru_cache
from pathlib import Path

import numpy as np

from models.audio.resample import resample
from models.errors import SpeechError

RATE, FFT = 32_000, 2048  # of the network; shorter pieces are left as they are
FADE = 0.01  # seconds
CERTAIN = 0.5  # scores above this are marked; unmarked speech is near 0, marked speech near 1
_turn = threading.Lock()


def available() -> bool:
    """Whether the package is installed."""
    return importlib.util.find_spec("perth") is not None


def wanted(setting: str, cloned: str) -> bool:
    """Whether sound is to be marked. setting: the configuration's "off", "cloned" or "all". cloned: the saved voices it is
    spoken in, "" for none."""
    return setting == "all" or (setting == "cloned" and bool(cloned))


def marked(samples: np.ndarray, rate: int) -> np.ndarray:
    """float32 mono samples at `rate` Hz with the mark in them. Raises SpeechError("watermark_missing")."""
    if len(samples) * RATE < FFT * rate:
        return samples
    import torch

    network, wide = _network(), resample(samples, rate, RATE)
    with _turn, torch.inference_mode():
        magnitude, phase = network.ap.signal_to_magphase(torch.from_numpy(wide))
        changed, _ = network.encoder(magnitude[None])
        both = [network.ap.magphase_to_signal(one, phase).numpy() for one in (changed[0], magnitude)]
    residual = resample(both[0] - both[1], RATE, rate)
    count = min(len(samples), len(residual))
    fade = min(count // 2, round(FADE * rate))
    ramp = np.linspace(0, 1, fade, endpoint=False, dtype=np.float32)
    residual[:fade] *= ramp
    residual[count - fade:count] *= ramp[::-1]
    result = samples.astype(np.float32, copy=True)
    result[:count] += residual[:count]
    return np.clip(result, -1.0, 1.0)


def score(samples: np.ndarray, rate: int) -> float:
    """How sure it is that float mono samples carry the mark, 0 to 1. Raises SpeechError("watermark_missing")."""
    import torch

    network, wide = _network(), resample(samples, rate, RATE)
    with _turn, torch.inference_mode():
        magnitude, _ = network.ap.signal_to_magphase(torch.from_numpy(wide))
        return float(network.decoder(magnitude[None])[0].clip(0.0, 1.0))


@lru_cache(maxsize=1)
def _network():
    """Its network, without what else it does: it prints, and resamples by another library."""
    if not available():
        raise SpeechError("watermark_missing")
    folder = Path(importlib.util.find_spec("perth").origin).parent / "perth_net"
    between = types.ModuleType("perth.perth_net")  # its own asks pkg_resources, which setuptools has given up, for this folder
    between.__path__, between.PREPACKAGED_MODELS_DIR = [str(folder)], folder / "pretrained"
    with _turn, contextlib.redirect_stdout(io.StringIO()):
        sys.modules.setdefault("perth.perth_net", between)
        from perth.perth_net.perth_net_implicit.model.perth_net import PerthNet

        return PerthNet.load("implicit", folder / "pretrained").eval().requires_grad_(False)


if __name__ == "__main__":
    from models.audio.decode import decode

    for name in sys.argv[1:]:
        sound = decode(Path(name).read_bytes())
        found = score(sound.samples, sound.sample_rate)
        print(f"{name}: {'marked' if found > CERTAIN else 'not marked'} ({found:.2f})")
