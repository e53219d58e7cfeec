from __future__ import annotations

import numpy as np
import pytest

from models.families.kokoro.recover import module_path, recover


@pytest.mark.parametrize("node, path", [
    ("/encoder/text_encoder/cnn.0/cnn.0.0/Conv_quant", "text_encoder.cnn.0.0"),
    ("/decoder/decoder/generator/resblocks.3/convs1.0/Conv_quant", "decoder.generator.resblocks.3.convs1.0"),
    ("/encoder/predictor/text_encoder/lstms.0/LSTM", "predictor.text_encoder.lstms.0"),
    ("/encoder/F0.1/conv1/Conv", "predictor.F0.1.conv1"),
    ("/encoder/shared/LSTM", "predictor.shared"),
    ("/encoder/N_proj/Conv", "predictor.N_proj"),
])
def test_node_names_become_module_paths(node, path):
    assert module_path(node) == path


def test_scales_are_taken_from_the_nodes_not_from_names():
    """Two weights whose zero point is stored once, under the first one's name."""
    from onnx import TensorProto, helper, numpy_helper

    first = np.array([[1, 2], [3, 4]], np.uint8)
    store = {
        "onnx::MatMul_1_quantized": first, "onnx::MatMul_2_quantized": first + 4,
        "onnx::MatMul_1_scale": np.array(0.5, np.float32), "onnx::MatMul_2_scale": np.array(2.0, np.float32),
        "onnx::MatMul_1_zero_point": np.array(2, np.uint8),
    }
    nodes = []
    for number, layer in (("1", "query"), ("2", "key")):
        name = f"/encoder/bert/attention/{layer}/MatMul"
        weight = f"onnx::MatMul_{number}"
        nodes += [
            helper.make_node("MatMulInteger", ["x", f"{weight}_quantized", "zero", "onnx::MatMul_1_zero_point"],
                             [f"y{number}"], name=f"{name}_quant"),
            helper.make_node("Mul", ["x_scale", f"{weight}_scale"], [f"s{number}"], name=f"{name}_quant_scales_mul"),
        ]
    graph = helper.make_graph(nodes, "g", [], [helper.make_tensor_value_info("y1", TensorProto.INT32, None)],
                              [numpy_helper.from_array(value, key) for key, value in store.items()])
    got = recover(graph)
    assert np.array_equal(got["bert.attention.query.weight"], (first.astype(np.float32) - 2).T * 0.5)
    assert np.array_equal(got["bert.attention.key.weight"], (first.astype(np.float32) + 2).T * 2)
