"""How far a stretch of an ONNX graph looks: the context a window needs so that its middle is exact.

For every tensor we carry (rate, left, right): samples per frame, and how many frames before and after its own place a
sample depends on. Convolutions widen it, transposed convolutions widen it and raise the rate, everything else in
ELEMENTWISE takes the widest of its inputs. An operator that is none of these looks at all times at once.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from onnx import GraphProto, NodeProto, helper

ELEMENTWISE = frozenset({
    "Add", "Sub", "Mul", "Div", "Neg", "Exp", "Tanh", "Sigmoid", "Relu", "LeakyRelu", "Max", "Min", "Clip", "Identity",
    "Cast", "Where", "Pow", "Sqrt", "Erf", "Softplus", "Constant", "ConstantOfShape", "Shape", "Slice", "Split",
    "Concat", "Gather", "Unsqueeze", "Squeeze", "Reshape", "Expand",
})


@dataclass(frozen=True)
class Reach:
    rate: Fraction
    left: Fraction
    right: Fraction

    @property
    def context(self) -> int:
        """Whole frames of context that suffice on either side."""
        return math.ceil(max(self.left, self.right))


def reach(graph: GraphProto, moving: Iterable[str], output: str) -> Reach | None:
    """The reach of `output` over the inputs that move in time, or None if a window can't be exact."""
    seen = {name: Reach(Fraction(1), Fraction(0), Fraction(0)) for name in moving}
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for node in graph.node:
        inputs = [seen[name] for name in node.input if name in seen]
        if not inputs:
            continue
        result = _through(node, inputs, shapes)
        if result is None:
            return None
        for name in node.output:
            seen[name] = result
    return seen.get(output)


def _through(node: NodeProto, inputs: list[Reach], shapes: Mapping[str, tuple[int, ...]]) -> Reach | None:
    if node.op_type in ("Conv", "ConvTranspose"):
        return _convolution(node, inputs[0], shapes)
    if node.op_type not in ELEMENTWISE:
        return None
    rates = {item.rate for item in inputs}
    if len(rates) > 1:
        return None
    return Reach(rates.pop(), max(item.left for item in inputs), max(item.right for item in inputs))


def _convolution(node: NodeProto, at: Reach, shapes: Mapping[str, tuple[int, ...]]) -> Reach | None:
    """Convolutions along the last axis."""
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    if given.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        return None
    kernel = given.get("kernel_shape") or shapes.get(node.input[1], ())[2:]
    if not kernel:
        return None
    axes = len(kernel)
    stride, dilation = given.get("strides", [1] * axes)[-1], given.get("dilations", [1] * axes)[-1]
    before = given.get("pads", [0] * 2 * axes)[axes - 1]
    span = (kernel[-1] - 1) * dilation
    if node.op_type == "Conv":
        if stride != 1 or any(size != 1 for size in kernel[:-1]):
            return None
        return Reach(at.rate, at.left + before / at.rate, at.right + (span - before) / at.rate)
    rate = at.rate * stride
    return Reach(rate, at.left + (span - before) / rate, at.right + before / rate)
