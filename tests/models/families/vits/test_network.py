"""The stages against the voice's own graph, and windows against the whole."""
from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from models.families.vits.blocked import keep_blocked
from models.families.vits.engine import load_optimised
from models.families.vits.network import FIRST_WINDOW, Columns, Scales
from models.families.vits.prepare import prepare
from models.families.vits.reach import reach
from models.families.vits.split import DURATION_NOISE

NORMAL, STILL = Scales(0.667, 1.0, 0.8), Scales(0.0, 1.0, 0.0)
WHOLE = 10**6


def some_ids(voice, count=60) -> list[int]:
    numbers = sorted({number for ids in voice.phoneme_ids.values() for number in ids})
    drawn = np.random.default_rng(1).choice(numbers, count)
    return [1, 0, *(int(value) for number in drawn for value in (number, 0)), 2]


def spoken(network, voice, seed=0, scales=NORMAL, **windows) -> np.ndarray:
    speaker = 1 if voice.speakers else None
    return np.concatenate(list(network.speak(some_ids(voice), scales, speaker, np.random.default_rng(seed), **windows)))


def test_without_noise_the_stages_equal_the_voices_own_graph(network, voice):
    ids = some_ids(voice)
    feed = {"input": np.array([ids]), "input_lengths": np.array([len(ids)]),
            "scales": np.array([0.0, 1.0, 0.0], np.float32)}
    if voice.speakers:
        feed["sid"] = np.array([1])
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    whole = ort.InferenceSession(str(voice.file), options).run(None, feed)[0].reshape(-1)
    ours = spoken(network, voice, scales=STILL)
    assert ours.shape == whole.shape
    assert np.abs(ours - whole).max() < 1e-4  # sums in another order: 80 dB below full scale


@pytest.mark.parametrize(("first", "largest"), [(1, 1), (5, 9), (16, 64), (24, 200)])
def test_windows_equal_the_whole(network, voice, first, largest):
    whole = spoken(network, voice, first=WHOLE, largest=WHOLE)
    windowed = spoken(network, voice, first=first, largest=largest)
    assert windowed.shape == whole.shape
    assert np.abs(windowed - whole).max() < 1e-5


def test_less_context_than_the_graph_asks_for_would_be_heard(network, voice):
    """The context is not generous: a few columns less, and windows differ from the whole."""
    from dataclasses import replace

    whole = spoken(network, voice, first=WHOLE, largest=WHOLE)
    layout = network.layout
    try:
        network.layout = replace(layout, stages=[replace(stage, context=stage.context // 3) for stage in layout.stages])
        assert np.abs(spoken(network, voice, first=8, largest=8) - whole).max() > 1e-5
    finally:
        network.layout = layout


def test_no_step_at_the_joins(network, voice):
    """Between the last sample of a window and the first of the next, the sound moves as it does within windows."""
    speaker = 1 if voice.speakers else None
    chunks = list(network.speak(some_ids(voice), NORMAL, speaker, np.random.default_rng(0), first=8, largest=8))
    samples = np.concatenate(chunks)
    whole = spoken(network, voice, first=WHOLE, largest=WHOLE)
    joins = np.cumsum([len(chunk) for chunk in chunks])[:-1]
    assert len(joins) > 8
    steps = np.diff(samples)[joins - 1]
    assert np.abs(steps - np.diff(whole)[joins - 1]).max() < 1e-5
    assert np.abs(steps).mean() < 3 * np.abs(np.diff(samples)).mean()


def test_sound_comes_in_pieces_that_start_short(network, voice):
    sizes = [len(chunk) for chunk in network.speak(some_ids(voice), NORMAL, 0, np.random.default_rng(0))]
    assert len(sizes) > 1
    assert sizes[0] == FIRST_WINDOW * network.hop


def test_a_seed_reproduces_to_the_bit_and_another_differs(network, voice):
    first, again, other = (spoken(network, voice, seed) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_a_stopped_utterance_leaves_the_network_sound(network, voice):
    before = spoken(network, voice)
    chunks = network.speak(some_ids(voice), NORMAL, 0, np.random.default_rng(9))
    next(chunks)
    chunks.close()
    assert np.array_equal(spoken(network, voice), before)


def test_length_scale_stretches(network, voice):
    slow = spoken(network, voice, scales=Scales(0.0, 2.0, 0.0))
    quick = spoken(network, voice, scales=Scales(0.0, 0.5, 0.0))
    normal = spoken(network, voice, scales=STILL)
    assert len(quick) < 0.85 * len(normal) and len(slow) > 1.5 * len(normal)


def test_warming_runs_every_stage(network, voice):
    stages = list(network.warm(some_ids(voice, 8), NORMAL, 0))
    assert stages == ["encoder", "first window", "windows"]


def test_the_stages_are_made_once(voice):
    lines: list[str] = []
    folder, layout = prepare(voice, "vits", lines.append)
    assert prepare(voice, "vits", lines.append) == (folder, layout)
    assert not lines  # the network fixture has made them


def test_the_noise_is_an_input(network, voice):
    folder, layout = prepare(voice, "vits", print)
    kinds = set()
    for name in ("encoder.onnx", *(stage.file for stage in layout.stages)):
        kinds |= {node.op_type for node in onnx.load(str(folder / name)).graph.node}
    assert not any(kind.startswith("Random") for kind in kinds)
    assert DURATION_NOISE in [item.name for item in onnx.load(str(folder / "encoder.onnx")).graph.input]


def test_the_blocked_layout_changes_nothing(network, voice, tmp_path):
    folder, layout = prepare(voice, "vits", print)
    rng = np.random.default_rng(0)
    for stage in layout.stages[1:]:
        options = ort.SessionOptions()
        options.log_severity_level = 3
        options.optimized_model_filepath = str(tmp_path / stage.file)
        plain = ort.InferenceSession(str(folder / stage.file), options)
        source = onnx.load(str(tmp_path / stage.file))
        count = len(source.graph.node)
        model = keep_blocked(source)
        assert len(model.graph.node) <= count
        blocked = load_optimised(model.SerializeToString(), 1)
        shapes = {item.name: item.shape for item in plain.get_inputs()}
        values = {name: value for name, value in _encoder_values(network, voice).items() if name in shapes}
        feed = {name: values.get(name, None) for name in shapes}
        for name in feed:
            if feed[name] is None:
                feed[name] = rng.standard_normal((1, _channels(folder, stage, name), 40), np.float32)
        assert np.abs(plain.run(None, feed)[0] - blocked.run(None, feed)[0]).max() < 1e-5


def _encoder_values(network, voice) -> dict[str, np.ndarray]:
    frames = network.frames(some_ids(voice, 10), NORMAL, 0, np.random.default_rng(0))
    return frames.feed([name for name in network.layout.encoder_outputs], 0, frames.count)


def _channels(folder, stage, name) -> int:
    """Channels that the first convolution reading the stage's source expects."""
    graph = onnx.load(str(folder / stage.file)).graph
    weights = {tensor.name: tensor.dims for tensor in graph.initializer}
    conv = next(node for node in graph.node if node.op_type in ("Conv", "ConvTranspose"))
    return weights[conv.input[1]][1 if conv.op_type == "Conv" else 0]


def test_reach_of_a_known_stack():
    from onnx import TensorProto, helper, numpy_helper

    def weights(name, *shape):
        return numpy_helper.from_array(np.zeros(shape, np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "a"], ["1"], kernel_shape=[7], pads=[3, 3]),
        helper.make_node("ConvTranspose", ["1", "b"], ["2"], kernel_shape=[16], strides=[8], pads=[4, 4]),
        helper.make_node("LeakyRelu", ["2"], ["3"]),
        helper.make_node("Conv", ["3", "c"], ["4"], kernel_shape=[7], pads=[36, 36], dilations=[12]),
        helper.make_node("Add", ["4", "2"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, "t"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, "t"])],
        [weights("a", 4, 4, 7), weights("b", 4, 4, 16), weights("c", 4, 4, 7)])
    found = reach(graph, ["x"], "y")
    assert (found.rate, found.left, found.right) == (8, 3 + 11 / 8 + 36 / 8, 3 + 4 / 8 + 36 / 8)
    assert found.context == 9
    nodes.insert(2, helper.make_node("Softmax", ["2"], ["2s"]))
    nodes[3].input[0] = "2s"
    graph = helper.make_graph(nodes, "g", graph.input, graph.output, graph.initializer)
    assert reach(graph, ["x"], "y") is None


def test_what_is_made_ahead_is_made_once_and_in_few_pieces(network, voice, monkeypatch):
    asked: dict[str, list[int]] = {}
    run = Columns.run

    def counted(self, begin, end, ahead):
        low, high = max(0, begin - (self._stage.context or 0)), min(self._inputs, end + (self._stage.context or 0))
        asked.setdefault(self._stage.file, []).append(high - low)
        return run(self, begin, end, ahead)

    monkeypatch.setattr(Columns, "run", counted)
    frames = spoken(network, voice).size // network.hop
    first = asked[network.layout.stages[0].file]
    assert frames > 200 and sum(first) < 1.4 * frames and len(first) <= 4
