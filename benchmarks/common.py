"""What all benchmarks share: taking turns, the result and its table, the machine's description."""
from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
LIBRARIES = ("torch", "onnxruntime", "numpy")
LOAD_BEFORE = os.getloadavg()[0] if hasattr(os, "getloadavg") else None  # before the benchmark's own work


@dataclass
class Result:
    """ratio: the headline, ours over the better peer, None where there is no peer. ours and peers: figures by name in
    `unit`. rows: lines of the printed table under `columns`. samples: the single measurements by side.
    target: what the ratio or the figure must reach, in words."""

    name: str
    ratio: float | None
    ours: Mapping[str, Any]
    peers: Mapping[str, Mapping[str, Any]]
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    target: str = ""
    samples: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=lambda: machine())

    def report(self) -> dict:
        return {
            "name": self.name, "ratio": self.ratio, "ours": dict(self.ours), "peers": dict(self.peers),
            "target": self.target, "machine": dict(self.machine), "samples": dict(self.samples),
        }

    def table(self) -> str:
        cells = [[_cell(value) for value in row] for row in [self.columns, *self.rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                           for i, (cell, width) in enumerate(zip(row, widths))) for row in cells]
        lines.insert(1, "  ".join("-" * width for width in widths))
        headline = f"{self.name}: " + (f"{self.ratio:.3f} x" if self.ratio is not None else "no peer")
        about = ", ".join(f"{key} {value}" for key, value in self.machine.items())
        return "\n".join([*lines, "", headline + (f" (target: {self.target})" if self.target else ""), about])


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) and abs(value) < 10 else \
        f"{value:.1f}" if isinstance(value, float) else str(value)


def alternate(sides: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list]:
    """Every side once per round, the order turned round each time; one unmeasured round comes first."""
    taken: dict[str, list] = {name: [] for name in sides}
    names = list(sides)
    for number in range(rounds + 1):
        for name in names if number % 2 else reversed(names):
            value = sides[name]()
            if number:
                taken[name].append(value)
    return taken


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def timed(work: Callable[[], Any]) -> float:
    """Seconds `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def machine() -> dict[str, Any]:
    """The machine in words, and its load average before the benchmark began: figures from a busy one say little."""
    libraries = {}
    for name in LIBRARIES:
        try:
            libraries[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "cpu": _processor(), "cores": os.cpu_count(), "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "instructions": " ".join(_instructions()) or "unknown", "system": platform.system(),
        "python": platform.python_version(), **libraries, "load": None if LOAD_BEFORE is None else round(LOAD_BEFORE, 2),
    }


def _processor() -> str:
    for line in _cpuinfo():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _instructions() -> list[str]:
    for line in _cpuinfo():
        if line.startswith("flags"):
            here = line.split()
            return [flag for flag in FLAGS if flag in here]
    return []


def _cpuinfo() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text("utf-8").splitlines() if file.exists() else []
