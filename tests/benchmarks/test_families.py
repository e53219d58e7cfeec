"""What `bench families` measures of each side, on a tiny checkpoint."""
from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.served import ROOT


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    from tests.checkpoints.make_pocket_tts import tiny

    return tiny(tmp_path_factory.mktemp("pocket") / "tiny", voices=("alba",))


@pytest.mark.parametrize(("side", "kinds"), [("ours", {"plain", "uncached", "cached"}), ("package", {"uncached", "cached"})])
def test_a_side_is_measured(checkpoint, side, kinds):
    settings = {"family": "pocket_tts", "folder": str(checkpoint), "side": side, "rounds": 2, "seconds": 0.2, "clip_seconds": 2}
    done = subprocess.run([sys.executable, "-m", "benchmarks.families", json.dumps(settings)], cwd=ROOT, check=True,
                          capture_output=True, text=True)
    told = json.loads(done.stdout)
    assert kinds == set(told) & {"plain", "uncached", "cached"}
    assert all(first > 0 and rtf > 0 for kind in kinds for first, rtf in told[kind])
    assert told["memory_mb"] > 100 and told["load_s"] > 0
