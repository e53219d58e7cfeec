"""First request after ready against the next ten, for each model and language, a fresh server each.

The language is left to be found in the text, as the page does unless told otherwise.

The same pause stands before every request, the first one too: memory that nobody touches for a second may be slower to
reach again (virtual machines whose host reclaims it), which says nothing about what a server has yet to load.
"""
from __future__ import annotations

import argparse
import time

from benchmarks.client import listen
from benchmarks.common import Result, median
from tests.served import serve

ROUNDS = 3
NEXT = 10
PAUSE = 1.0  # seconds
# One sentence a language whose length hardly changes with the number: a text never comes twice, so no cache of whole
# texts flatters the later ones.
SENTENCES = {
    "en": "Visitor number {} is waiting at the garden door.", "zh": "第{}位客人正在花园门口等候。",
    "ja": "{}番のお客様が庭の入り口でお待ちです。", "es": "El visitante número {} espera en la puerta del jardín.",
    "fr": "Le visiteur numéro {} attend à la porte du jardin.", "hi": "मेहमान नंबर {} बगीचे के दरवाज़े पर इंतज़ार कर रहा है।",
    "it": "Il visitatore numero {} aspetta alla porta del giardino.", "pt": "O visitante número {} espera na porta do jardim.",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--languages", nargs="*", help="only these (default: all a model speaks)")


def run(options: argparse.Namespace) -> Result:
    with serve() as served:
        pairs = [(model["id"], language) for model in served.get("api/models")["models"] for language in model["languages"]
                 if language in (options.languages or SENTENCES)]
    rows, samples, worst = [], {}, 0.0
    for model, language in pairs:
        firsts, nexts, ratios = [], [], []
        for _ in range(options.rounds):
            with serve() as served:
                heard = []
                for number in range(NEXT + 1):
                    time.sleep(PAUSE)
                    text = SENTENCES[language].format(31 + number)
                    heard.append(listen(served, text=text, model=model).ttfa)
            firsts.append(heard[0])
            nexts.append(median(heard[1:]))
            ratios.append(heard[0] / nexts[-1])
        rows.append((f"{model} {language}", median(firsts) * 1000, median(nexts) * 1000, median(ratios)))
        samples[f"{model} {language}"] = {"first_s": firsts, "next_ten_median_s": nexts}
        worst = max(worst, median(ratios))
    return Result("first-request", worst, {"worst_ratio": worst}, {}, ("model, language", "first, ms", "next ten, ms", "ratio"),
                  rows, "at most 1.1 x for each", samples)
