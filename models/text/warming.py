"""Load everything the front end needs, so that no request pays for it."""
from __future__ import annotations

from collections.abc import Sequence

from models.text.plan import plan_segments
from models.text.segment import Run

_SAMPLES = {
    "en": "On May 5, 2024, Dr. Smith read 3.5 pages for $20; zyxgo.",
    "zh": "2024年5月3日，今天花了12.5元。", "ja": "2024年5月3日、今日は何を食べますか。",
    "es": "Hola, son las 3.", "fr": "Bonjour, il est 3 heures.", "hi": "नमस्ते, आप कैसे हैं?",
    "it": "Ciao, sono le 3.", "pt": "Olá, são 3 horas.",
}


def warm(languages: Sequence[str], phonemes: str = "kokoro") -> None:
    """Run each language once through splitting, normalisation and phonemes.

    languages: as given to `plan_segments` and `kokoro` ("en-gb" loads the British lexicon too). phonemes: "kokoro",
    or an espeak-ng voice for models that read espeak's IPA. Safe from any thread. Reading dictionaries takes memory for
    a moment: `models.memory.give_back` returns it. What tells languages apart is another matter: `warm_languages`.
    """
    from models.text.phonemes import espeak, kokoro_runs
    from models.text.spoken import spoken_form
    from models.text.words import chinese, japanese

    supported = tuple(dict.fromkeys(language.split("-")[0] for language in languages))
    if "zh" in supported:
        chinese()
    if "ja" in supported:
        japanese()
    for language in languages:
        text = _SAMPLES.get(language.split("-")[0], "a 1")
        plan_segments(text, "auto", supported, 40, 200)
        if phonemes == "kokoro":
            english = "en-gb" if language == "en-gb" else "en-us"
            kokoro_runs([Run(text, language.split("-")[0])], english)
        else:
            espeak(spoken_form(text, language.split("-")[0]), phonemes)
