"""After warming, a request loads nothing more; before it, importing the room loads nothing heavy."""
from __future__ import annotations

import json
import subprocess
import sys

IMPORT = """
import json, sys
import models.text
print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))
"""
SPEAK = """
import json, sys
from models.text import normalise, plan_segments, warm, warm_languages
from models.text.phonemes import KOKORO_LANGUAGES, espeak, kokoro_runs
warm((*KOKORO_LANGUAGES, "en-gb"))
warm(("en",), phonemes="en-us")
warm_languages(KOKORO_LANGUAGES)
assert not {"torch", "spacy_curated_transformers"} & set(sys.modules)  # 500 MB that no reading uses
before = set(sys.modules)
for text in ("On 3 June 1999, Dr. Lee paid $5.50 at www.example.com; xylqz!", "2023年6月1日，他用GPT写了3.5页。",
             "2023年6月1日、何時に東京駅へ行きますか。5,000円です。", "Hola, ¿cómo estás? Son 20 euros.", "Bonjour à tous, il est 14h30.",
             "Ciao a tutti, come state oggi?", "Olá, tudo bem com você? São 3.", "नमस्ते दुनिया, 5."):
    _, segments = plan_segments(text, "auto", KOKORO_LANGUAGES, 60, 200)
    for segment in segments:
        assert kokoro_runs(segment.runs) and kokoro_runs(segment.runs, "en-gb")
        assert espeak(normalise(segment.text, "en"), "en-us")
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def run(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_importing_is_light():
    heavy = {"torch", "spacy", "misaki", "jieba", "rjieba", "pypinyin", "pyopenjtalk", "wetext", "numpy", "num2words", "py3langid"}
    assert not heavy & set(run(IMPORT))


def test_a_request_after_warming_loads_nothing():
    assert run(SPEAK) == []
