"""Float tensors out of the int8 ONNX graph of Kokoro v1.0.

Node names give module paths, so the published parameter names can be restored: "/encoder/text_encoder/cnn.0/cnn.0.0/
Conv_quant" holds `text_encoder.cnn.0.0.weight`. Scales and zero points are read from the inputs of the nodes that use a
weight: equal zero points are stored once and shared, so the initializers' own names can't be trusted.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

LSTM_GATES = (0, 2, 3, 1)  # ONNX orders input, output, forget, cell; torch wants input, forget, cell, output
PREFIXES = ("encoder.", "decoder.decoder.")
NOT_WEIGHTS = ("_scale", "_zero_point", "_shape")
IN_PREDICTOR = re.compile(r"^((F0|N)(\.|_proj)|shared$)")
REPEATED = re.compile(r"_\d+\.weight$")  # ALBERT's one layer appears once per repetition: the first will do


def recover(graph: Any) -> dict[str, np.ndarray]:
    """graph: an onnx.GraphProto -> float32 arrays by published name; also the STFT's fixed bases, under `stft`."""
    return _Recovery(graph).run()


def module_path(node_name: str) -> str:
    """The module a node belongs to: its name's parts, each repeating and extending the one before it."""
    parts: list[str] = []
    for part in node_name.strip("/").split("/")[:-1]:
        if parts and part.startswith(parts[-1] + "."):
            parts[-1] = part
        else:
            parts.append(part)
    path = ".".join(parts)
    for prefix in ("encoder.", "decoder."):
        if path.startswith(prefix):
            path = path.removeprefix(prefix)
            break
    return f"predictor.{path}" if IN_PREDICTOR.match(path) else path


class _Recovery:
    def __init__(self, graph: Any):
        from onnx import numpy_helper

        self._nodes = list(graph.node)
        self._stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        self._scale: dict[str, str] = {}
        self._zero: dict[str, str] = {}
        self._find_quantisation()

    def run(self) -> dict[str, np.ndarray]:
        weights = dict(self._named())
        for node in self._nodes:
            path = module_path(node.name)
            if node.op_type == "DynamicQuantizeLSTM":
                weights.update(self._lstm(node, path))
            elif node.op_type in ("ConvInteger", "MatMulInteger", "Conv", "ConvTranspose", "MatMul"):
                source = next((i for i in node.input if i in self._stored and self._stored[i].ndim >= 2), None)
                key = f"{path}.weight"
                if source and key not in weights and not REPEATED.search(key) and ".stft." not in key:
                    value = self._floats(source)
                    weights[key] = value.T if value.ndim == 2 else value  # MatMul keeps its weight transposed
        return {name: np.array(value, dtype=np.float32, order="C") for name, value in weights.items()}

    def _find_quantisation(self) -> None:
        by_name = {node.name: node for node in self._nodes}
        users: dict[str, list] = {}
        for node in self._nodes:
            for name in node.input:
                users.setdefault(name, []).append(node)
        for node in self._nodes:
            inputs = node.input
            if node.op_type in ("ConvInteger", "MatMulInteger"):
                self._zero[inputs[1]] = inputs[3]
                if multiply := by_name.get(node.name.replace("_quant", "_quant_scales_mul")):
                    self._scale[inputs[1]] = next(name for name in multiply.input if name in self._stored)
            elif node.op_type == "DynamicQuantizeLSTM":
                self._scale[inputs[1]], self._zero[inputs[1]] = inputs[8], inputs[9]
                self._scale[inputs[2]], self._zero[inputs[2]] = inputs[10], inputs[11]
            elif node.op_type == "DequantizeLinear" and inputs[0] in self._stored:
                self._scale[inputs[0]], self._zero[inputs[0]] = inputs[1], inputs[2]
            elif node.op_type == "Gather" and inputs[0].endswith("_quantized"):
                for user in users.get(node.output[0], []):
                    if user.op_type == "DequantizeLinear":
                        self._scale[inputs[0]], self._zero[inputs[0]] = user.input[1], user.input[2]

    def _floats(self, name: str) -> np.ndarray:
        if not name.endswith("_quantized"):
            return self._stored[name]
        scale_name = self._scale.get(name) or name.removesuffix("_quantized") + "_scale"
        scale, zero = self._stored[scale_name], self._stored[self._zero[name]].astype(np.float32)
        quantised = self._stored[name].astype(np.float32)
        if quantised.ndim == 3 and scale.size > 1:  # one scale per LSTM direction, or per output channel
            scale = scale.reshape(-1, 1, 1)
            zero = zero.reshape(-1, 1, 1) if zero.size > 1 else zero
        return (quantised - zero) * scale

    def _named(self) -> Iterator[tuple[str, np.ndarray]]:
        """Initializers that kept their parameter's name."""
        for name in self._stored:
            if name.startswith(PREFIXES) and not name.endswith(NOT_WEIGHTS):
                prefix = "encoder." if name.startswith("encoder.") else "decoder."
                key = name.removeprefix(prefix).removesuffix("_quantized")
                value = self._floats(name)
                yield key, value.T if key.endswith("fc.weight") else value  # Gemm keeps it transposed

    def _lstm(self, node: Any, path: str) -> Iterator[tuple[str, np.ndarray]]:
        def reorder(gates: np.ndarray) -> np.ndarray:
            quarters = np.split(gates, 4)
            return np.concatenate([quarters[gate] for gate in LSTM_GATES])

        inputs, recurrent = self._floats(node.input[1]), self._floats(node.input[2])
        biases = self._stored[node.input[3]]
        for direction, suffix in enumerate(("_l0", "_l0_reverse")):
            yield f"{path}.weight_ih{suffix}", reorder(inputs[direction].T)
            yield f"{path}.weight_hh{suffix}", reorder(recurrent[direction].T)
            bias_in, bias_recurrent = np.split(biases[direction], 2)
            yield f"{path}.bias_ih{suffix}", reorder(bias_in)
            yield f"{path}.bias_hh{suffix}", reorder(bias_recurrent)
