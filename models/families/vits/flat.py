"""One-dimensional convolutions rewritten in two dimensions of which one has size 1.

The sums are the same, but onnxruntime has blocked kernels only for two dimensions: a fifth less time.
"""
from __future__ import annotations

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

SAME_IN_2D = frozenset({"Add", "Sub", "Mul", "Div", "Tanh", "LeakyRelu", "Relu", "Identity"})


def flat_to_2d(model: ModelProto) -> ModelProto:
    """Rewrites one-dimensional convolutions with a height of 1; chains of them keep the extra axis in between."""
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    opset = next((item.version for item in model.opset_import if item.domain in ("", "ai.onnx")), 0)
    if opset < 13:  # axes of Squeeze and Unsqueeze were attributes before
        return model
    axis = "readyvoice_axis"
    high: dict[str, str] = {}  # tensor -> its name with the extra axis
    flat: set[str] = {item.name for item in graph.input} | set(weights)
    nodes: list[NodeProto] = []
    done: set[str] = set()

    def raised(name: str) -> str:
        if name not in high:
            high[name] = f"{name}_2d"
            nodes.append(helper.make_node("Unsqueeze", [name, axis], [high[name]]))
        return high[name]

    def lowered(name: str) -> None:
        if name not in flat:
            flat.add(name)
            nodes.append(helper.make_node("Squeeze", [high[name], axis], [name]))

    def scalar(name: str) -> bool:
        return name in weights and int(np.prod(weights[name].dims)) == 1

    for node in graph.node:
        copy = NodeProto()
        copy.CopyFrom(node)
        if node.op_type in ("Conv", "ConvTranspose") and node.input[1] in weights \
                and (node.input[1] in done or len(weights[node.input[1]].dims) == 3):
            _raise_convolution(copy)
            if node.input[1] not in done:
                array = numpy_helper.to_array(weights[node.input[1]])
                weights[node.input[1]].CopyFrom(numpy_helper.from_array(array[:, :, None, :], node.input[1]))
                done.add(node.input[1])
            copy.input[0] = raised(node.input[0])
        elif node.op_type in SAME_IN_2D and any(name in high and name not in flat for name in node.input) \
                and all(name in high or scalar(name) for name in node.input):
            copy.input[:] = [name if scalar(name) else high[name] for name in node.input]
        else:
            for name in node.input:
                if name in high:
                    lowered(name)
            flat.update(node.output)
            nodes.append(copy)
            continue
        for index, name in enumerate(node.output):
            high[name] = copy.output[index] = f"{name}_2d"
        nodes.append(copy)
    for item in graph.output:
        if item.name in high:
            lowered(item.name)
    graph.initializer.append(numpy_helper.from_array(np.array([2], np.int64), axis))
    del graph.node[:]
    graph.node.extend(nodes)
    return model


def _raise_convolution(node: NodeProto) -> None:
    for attribute in node.attribute:
        values = list(attribute.ints)
        if attribute.name in ("dilations", "kernel_shape", "strides"):
            attribute.ints[:] = [1, *values]
        elif attribute.name == "output_padding":
            attribute.ints[:] = [0, *values]
        elif attribute.name == "pads":
            attribute.ints[:] = [0, values[0], 0, values[1]]
