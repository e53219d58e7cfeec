"""Random Supertonic checkpoints in the official layout: onnx/*.onnx with tts.json and unicode_indexer.json, voice_styles/.

The graphs are small and take part in everything: each style, text, step and noise can be heard in the result.
"""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RATE, BASE, LATENT, COMPRESS = 44100, 512, 4, 6  # 24 latent channels, 3072 samples a column
CHANNELS, TTL, DP = 16, (1, 5, 8), (1, 4, 4)
SECONDS_A_SIGN = 0.03


def tiny(path: Path, seed: int = 0, voices: tuple[str, ...] = ("F1", "M1")) -> Path:
    """A checkpoint of some hundred kilobytes; returns its folder."""
    random = np.random.default_rng(seed)
    for folder in ("onnx", "voice_styles"):
        (path / folder).mkdir(parents=True, exist_ok=True)
    settings = {"ae": {"sample_rate": RATE, "base_chunk_size": BASE},
                "ttl": {"latent_dim": LATENT, "chunk_compress_factor": COMPRESS}}
    (path / "onnx" / "tts.json").write_text(json.dumps(settings))
    (path / "onnx" / "unicode_indexer.json").write_text(json.dumps([index_of(code) for code in range(0x3400)]))
    for name, graph in (("duration_predictor", _durations()), ("text_encoder", _text_encoder(random)),
                        ("vector_estimator", _estimator(random)), ("vocoder", _vocoder(random))):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, str(path / "onnx" / f"{name}.onnx"))
    for voice in voices:
        style = {name: {"dims": list(shape), "data": random.standard_normal(shape).tolist(), "type": "float32"}
                 for name, shape in (("style_ttl", TTL), ("style_dp", DP))}
        (path / "voice_styles" / f"{voice}.json").write_text(json.dumps(style))
    return path


def index_of(code: int) -> int:
    """Phonetic letters have no sign, so that there is something the model cannot read; kana and jamo have one."""
    return -1 if 0x250 <= code < 0x300 else code % 1024


def _graph(name: str, nodes: list, inputs: dict, output: str, shape: list, constants: dict) -> onnx.GraphProto:
    kinds = {"text_ids": TensorProto.INT64}
    return helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(key, kinds.get(key, TensorProto.FLOAT), size) for key, size in inputs.items()],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.asarray(value), key) for key, value in constants.items()])


def _node(operator: str, inputs: str, output: str, **attributes) -> onnx.NodeProto:
    return helper.make_node(operator, inputs.split(), [output], **attributes)


def _durations() -> onnx.GraphProto:
    """So many seconds a sign, and a little by style."""
    nodes = [
        _node("ReduceSum", "text_mask axes", "signs", keepdims=0), _node("Mul", "signs pace", "base"),
        _node("ReduceMean", "style_dp", "mood", axes=[1, 2], keepdims=0), _node("Mul", "mood little", "more"),
        _node("Cast", "text_ids", "ids", to=TensorProto.FLOAT), _node("ReduceMean", "ids", "mean", axes=[1], keepdims=0),
        _node("Mul", "mean nothing", "none"), _node("Add", "base more", "sum"), _node("Add", "sum none", "duration"),
    ]
    return _graph("durations", nodes, {"text_ids": ["B", "L"], "style_dp": ["B", *DP[1:]], "text_mask": ["B", 1, "L"]},
                  "duration", ["B"], {"axes": np.array([1, 2]), "pace": np.float32([SECONDS_A_SIGN]),
                                      "little": np.float32([0.05]), "nothing": np.float32([0])})


def _text_encoder(random: np.random.Generator) -> onnx.GraphProto:
    nodes = [
        _node("Gather", "table text_ids", "rows"), _node("Transpose", "rows", "columns", perm=[0, 2, 1]),
        _node("Mul", "columns text_mask", "masked"), _node("ReduceMean", "style_ttl", "mood", axes=[1, 2], keepdims=1),
        _node("Add", "masked mood", "text_emb"),
    ]
    table = (random.standard_normal((1024, CHANNELS)) * 0.1).astype(np.float32)
    return _graph("text encoder", nodes, {"text_ids": ["B", "L"], "style_ttl": ["B", *TTL[1:]], "text_mask": ["B", 1, "L"]},
                  "text_emb", ["B", CHANNELS, "L"], {"table": table})


def _estimator(random: np.random.Generator) -> onnx.GraphProto:
    """latent + (convolution of it + text + style + step) / steps."""
    wide = LATENT * COMPRESS
    nodes = [
        _node("ReduceMean", "text_emb", "words", axes=[2], keepdims=0), _node("MatMul", "words project", "spread"),
        _node("Unsqueeze", "spread last", "context"),
        _node("Conv", "noisy_latent kernel", "flow", kernel_shape=[3], pads=[1, 1]), _node("Add", "flow context", "both"),
        _node("ReduceMean", "style_ttl", "mood", axes=[1, 2], keepdims=1), _node("Add", "both mood", "moved"),
        _node("Reshape", "current_step column", "now"), _node("Mul", "now little", "drift"), _node("Add", "moved drift", "all"),
        _node("Reshape", "total_step column", "count"), _node("Div", "all count", "step"),
        _node("Add", "noisy_latent step", "next"), _node("Mul", "next latent_mask", "kept"),
        _node("ReduceMean", "text_mask", "present", axes=[1, 2], keepdims=1), _node("Mul", "kept present", "denoised_latent"),
    ]
    inputs = {"noisy_latent": ["B", wide, "N"], "text_emb": ["B", CHANNELS, "L"], "style_ttl": ["B", *TTL[1:]],
              "latent_mask": ["B", 1, "N"], "text_mask": ["B", 1, "L"], "current_step": ["B"], "total_step": ["B"]}
    constants = {"project": (random.standard_normal((CHANNELS, wide)) * 0.3).astype(np.float32), "last": np.array([2]),
                 "kernel": (random.standard_normal((wide, wide, 3)) * 0.1).astype(np.float32),
                 "column": np.array([-1, 1, 1]), "little": np.float32([0.01])}
    return _graph("estimator", nodes, inputs, "denoised_latent", ["B", wide, "N"], constants)


def _vocoder(random: np.random.Generator) -> onnx.GraphProto:
    wide = LATENT * COMPRESS
    nodes = [_node("Transpose", "latent", "columns", perm=[0, 2, 1]), _node("MatMul", "columns basis", "waves"),
             _node("Tanh", "waves", "bounded"), _node("Reshape", "bounded flat", "wav_tts")]
    basis = (random.standard_normal((wide, BASE * COMPRESS)) * 0.05).astype(np.float32)
    return _graph("vocoder", nodes, {"latent": ["B", wide, "N"]}, "wav_tts", ["B", "S"],
                  {"basis": basis, "flat": np.array([0, -1])})
