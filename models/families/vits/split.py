"""A Piper graph cut in stages: encoder (phonemes to frames), flow, decoder (frames to samples) in two.

VITS draws noise in two places, with RandomNormalLike nodes that ONNX lets nobody seed per run. Both become inputs:
`duration_noise` of the encoder and `noise` of the flow. The decoder begins at its `conv_pre`. Cuts are found by the
graph's structure, and what crosses a cut (in multi-speaker voices the speaker's embedding too) becomes output and
input of the parts, so any exporter's naming will do. The decoder is cut once more, before its second upsampling:
the layers after it do four fifths of the work and look only a frame or two to the sides, so a window costs little
more than its own length.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, shape_inference

from models.families.vits.flat import flat_to_2d

NOISE, DURATION_NOISE = "readyvoice_noise", "readyvoice_duration_noise"


class NotVits(ValueError):
    """The graph is not one this family can run; the message says why."""


@dataclass
class Part:
    """One stage after the encoder. source: the moving tensor it takes over from the stage before, None for the flow."""

    model: ModelProto
    inputs: list[str]
    output: str
    source: str | None


@dataclass
class Cut:
    """The encoder and the stages after it, and the names of what crosses. noise_like and duration_like are the tensors
    whose shapes the noises must have, extra outputs of `encoder` for probing; duration_like is None where durations
    need no noise. durations: the tensor that says how many frames each phoneme id lasts, None where none is found."""

    encoder: ModelProto
    parts: list[Part]
    inputs: list[str]
    encoder_outputs: list[str]
    noise_like: str
    duration_like: str | None
    durations: str | None

    @property
    def probes(self) -> list[str]:
        """The encoder's outputs that only probing needs."""
        likes = {self.noise_like, self.duration_like} - {None}
        return sorted(likes - {*self.encoder_outputs, self.durations})


def cut(model: ModelProto) -> Cut:
    """Raises NotVits."""
    graph = model.graph
    _inline_constants(graph)
    fixed = {tensor.name for tensor in graph.initializer}
    inputs = [item.name for item in graph.input if item.name not in fixed]
    for name in ("input", "input_lengths", "scales"):
        if name not in inputs:
            raise NotVits(f"its graph has no input called {name}")
    types = _types(model)
    conv_pre = _conv_pre(graph)
    latent = conv_pre.input[0]
    decoder = _after(graph, {conv_pre.output[0]}) | {conv_pre.output[0]}
    noises = [node for node in graph.node if node.op_type == "RandomNormalLike"]
    last = _last_noise(graph, noises, latent)
    flow = (_after(graph, {last.output[0]}) & _before(graph, {latent})) - decoder
    early = [node for node in noises if node is not last]
    if len(early) > 1:
        raise NotVits(f"its graph draws noise in {len(early) + 1} places, and VITS does so in two at most")

    rename = {last.output[0]: NOISE, **{node.output[0]: DURATION_NOISE for node in early}}
    stages = [(flow, latent, None), *_decoder_stages(graph, decoder, latent, fixed)]
    parts = []
    for tensors, output, source in stages:
        needs = [rename.get(name, name) for name in _crossing(graph, tensors, fixed)]
        part = _part(model, tensors, needs, [output], rename, types)
        parts.append(Part(flat_to_2d(part), needs, output, source))
    made = {part.output for part in parts}
    encoder_outputs = sorted({name for part in parts for name in part.inputs} - made - {*inputs, NOISE})
    likes = {node.input[0] for node in noises}
    encoder = _before(graph, set(encoder_outputs) | likes) - flow - decoder - {node.output[0] for node in noises}
    encoder_inputs = inputs + ([DURATION_NOISE] if early else [])
    rounded = [node.output[0] for node in graph.node if node.op_type == "Ceil" and node.output[0] in encoder]
    durations = rounded[0] if len(rounded) == 1 else None  # only durations are rounded up
    outputs = sorted({*encoder_outputs, *likes, *rounded[:len(rounded) == 1]})
    return Cut(
        encoder=flat_to_2d(_part(model, encoder, encoder_inputs, outputs, rename, types)),
        parts=parts, inputs=inputs, encoder_outputs=encoder_outputs, noise_like=last.input[0],
        duration_like=early[0].input[0] if early else None, durations=durations,
    )


def without_outputs(model: ModelProto, names: Iterable[str]) -> ModelProto:
    """The model without some of its outputs and without the nodes only they needed."""
    kept = [item for item in model.graph.output if item.name not in set(names)]
    need = _before(model.graph, {item.name for item in kept})
    nodes = [node for node in model.graph.node if need.intersection(node.output)]
    del model.graph.output[:], model.graph.node[:]
    model.graph.output.extend(kept)
    model.graph.node.extend(nodes)
    return model


# -- finding the cuts


def _inline_constants(graph: GraphProto) -> None:
    """Constant nodes become initializers, and Identity nodes of initializers vanish: weights are then found by name."""
    fixed = {tensor.name for tensor in graph.initializer}
    rename: dict[str, str] = {}
    nodes = []
    for node in graph.node:
        node.input[:] = [rename.get(name, name) for name in node.input]
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            tensor = TensorProto()
            tensor.CopyFrom(node.attribute[0].t)
            tensor.name = node.output[0]
            graph.initializer.append(tensor)
            fixed.add(tensor.name)
        elif node.op_type == "Identity" and node.input[0] in fixed:
            rename[node.output[0]] = node.input[0]
        else:
            nodes.append(NodeProto())
            nodes[-1].CopyFrom(node)
    del graph.node[:]
    graph.node.extend(nodes)


def _conv_pre(graph: GraphProto) -> NodeProto:
    """The decoder's first convolution: walk back from the first transposed convolution."""
    producers = {name: node for node in graph.node for name in node.output}
    for node in graph.node:
        if node.op_type == "ConvTranspose":
            behind = node
            for _ in range(8):  # LeakyRelu, and in multi-speaker voices Add of the speaker's projection
                found = [producers[name] for name in behind.input if name in producers]
                convs = [item for item in found if item.op_type == "Conv"]
                named = [item for item in convs if "conv_pre" in item.name + " ".join(item.input)]
                if named or (convs and len(convs) == 1):
                    return (named or convs)[0]
                wide = [item for item in convs if _kernel(graph, item) > 1]
                if wide:
                    return wide[0]
                if not found:
                    break
                behind = found[0]
    raise NotVits("its graph has no HiFi-GAN decoder (no convolution before a transposed one)")


def _decoder_stages(graph: GraphProto, decoder: set[str], latent: str,
                    fixed: set[str]) -> list[tuple[set[str], str, str]]:
    """(tensors, output, source) of the decoder's one or two stages."""
    end = graph.output[0].name
    ups = [node for node in graph.node if node.op_type == "ConvTranspose" and node.output[0] in decoder]
    if len(ups) > 1:
        middle = ups[1].input[0]
        late = (_after(graph, {middle}) & decoder)
        if _crossing(graph, late, fixed) == [middle]:
            return [(decoder - late, middle, latent), (late, end, middle)]
    return [(decoder, end, latent)]


def _kernel(graph: GraphProto, node: NodeProto) -> int:
    shapes = {tensor.name: tensor.dims for tensor in graph.initializer}
    return shapes.get(node.input[1], [1])[-1]


def _last_noise(graph: GraphProto, noises: list[NodeProto], latent: str) -> NodeProto:
    """The noise of the latent leads to the decoder, and its own shape comes last: durations, and with them their
    noise, decide how many frames there are."""
    after = {id(node): _after(graph, {node.output[0]}) for node in noises}
    found = [node for node in noises if latent in after[id(node)]
             and not any(other.input[0] in after[id(node)] for other in noises)]
    if len(found) != 1:
        raise NotVits("its graph does not draw its latent noise with one RandomNormalLike")
    return found[0]


def _after(graph: GraphProto, names: set[str]) -> set[str]:
    """Every tensor that depends on one of `names` (nodes are in topological order, as ONNX demands)."""
    known, result = set(names), set()
    for node in graph.node:
        if known.intersection(node.input):
            known.update(node.output)
            result.update(node.output)
    return result


def _before(graph: GraphProto, names: set[str]) -> set[str]:
    """`names` and every tensor they depend on, as far as nodes make them."""
    need = set(names)
    made = set()
    for node in reversed(graph.node):
        if need.intersection(node.output):
            made.update(node.output)
            need.update(node.input)
    return made


def _crossing(graph: GraphProto, tensors: set[str], fixed: set[str]) -> list[str]:
    """What the nodes making `tensors` read and don't make themselves."""
    result: dict[str, None] = {}
    for node in graph.node:
        if tensors.intersection(node.output):
            result.update({name: None for name in node.input if name and name not in fixed and name not in tensors})
    return list(result)


def _types(model: ModelProto) -> dict[str, int]:
    inferred = shape_inference.infer_shapes(model).graph
    known = [*inferred.value_info, *inferred.input, *inferred.output]
    return {item.name: item.type.tensor_type.elem_type for item in known}


def _part(model: ModelProto, tensors: set[str], inputs: list[str], outputs: list[str], rename: dict[str, str],
          types: dict[str, int]) -> ModelProto:
    graph = model.graph
    nodes = []
    for node in graph.node:
        if tensors.intersection(node.output):
            copy = NodeProto()
            copy.CopyFrom(node)
            copy.input[:] = [rename.get(name, name) for name in node.input]
            nodes.append(copy)
    used = {name for node in nodes for name in node.input}
    declared = {item.name: item for item in [*graph.input, *graph.output]}

    def info(name: str) -> onnx.ValueInfoProto:
        if name in declared and name in inputs:
            return declared[name]
        return helper.make_tensor_value_info(name, types.get(name) or TensorProto.FLOAT, None)

    weights = [tensor for tensor in graph.initializer if tensor.name in used]
    part = helper.make_graph(nodes, "part", [info(name) for name in inputs], [info(name) for name in outputs], weights)
    return helper.make_model(part, opset_imports=model.opset_import, ir_version=model.ir_version)
