"""Once the tools are loaded, a clip is checked and heard without anything more to load."""
from __future__ import annotations

import json
import subprocess
import sys

from tests.served import ROOT

CODE = """
import json, sys
from models.voices import tools
tools.fetch()
assert not {"torch", "faster_whisper", "ctranslate2", "scipy"} & set(sys.modules)  # whoever only speaks never pays for it
from models.audio.encode import to_wav
from tests.models.families.vits.conftest import load, spoken
joe = load(None)
clip = to_wav(spoken(joe, "The old lighthouse keeper climbed the spiral stairs every evening.", seed=1), joe.sample_rate)
tools.load()
from models.voices import reference

before = set(sys.modules)
heard = reference.listen(reference.check(clip))
print(json.dumps([heard.clip.transcript, sorted(set(sys.modules) - before)]))
"""


def test_a_clip_after_the_tools_are_loaded_loads_nothing():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", CODE], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    transcript, loaded = json.loads(done.stdout.strip().splitlines()[-1])
    assert "lighthouse" in transcript and loaded == []
