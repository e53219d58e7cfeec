"""What a listener asks of a warm session loads nothing any more: no module, no table, no dictionary."""
from __future__ import annotations

import json
import subprocess
import sys

from tests.served import ROOT

CODE = """
import json, sys
from pathlib import Path
from models.config import load_config
from models.events import SpeechRequest
from models.session import Session
from models.text.language import _loaded

session = Session(load_config(Path("config.toml")).only("kokoro").models[0])
session.start()
session.wait_ready()
before = set(sys.modules)
for text in ("The last bus leaves before midnight.", "Nevermore quoth ravens flying homewards.", "Demain matin partirons ensemble",
             "今天我们学习 machine learning 的基础。", "東京駅はどこですか。", "12345", "Xyzzyx 3.5%"):
    session.run(SpeechRequest(text, model="kokoro", seed=1))
told = [*sorted(set(sys.modules) - before), *["identifier"] * _loaded.cache_info().misses]
session.close()
print(json.dumps(told))
"""


def test_a_request_to_a_warm_session_loads_nothing():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", CODE], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(done.stdout.strip().splitlines()[-1]) == ["identifier"]  # once, before it was ready
