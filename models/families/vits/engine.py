"""onnxruntime sessions as this family wants them: few threads, memory that doesn't grow, loaded quickly."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path

import onnx
import onnxruntime as ort

from models.families.vits.blocked import keep_blocked


def default_threads() -> int:
    """Half the cores, at most 4: the graphs are small, and threads that wait for each other cost more than they gain as
    soon as anything else runs (on two busy cores two threads take twice as long as one)."""
    return max(1, min(4, (os.cpu_count() or 2) // 2))


def load_optimised(source: Path | bytes, threads: int) -> ort.InferenceSession:
    """A graph that is to be run just as it is."""
    options = _options(threads)
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    provider = ("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})
    return ort.InferenceSession(source if isinstance(source, bytes) else str(source), options, providers=[provider])


def load_stage(file: Path, threads: int) -> ort.InferenceSession:
    """A graph optimised for this processor, then kept in its blocked layout (see `blocked`)."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "optimised.onnx"
        options = _options(1)
        options.optimized_model_filepath = str(target)
        ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        model = keep_blocked(onnx.load(str(target)))
    return load_optimised(model.SerializeToString(), threads)


def _options(threads: int) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # patterns are kept per shape for ever, and lengths vary without end
    return options
