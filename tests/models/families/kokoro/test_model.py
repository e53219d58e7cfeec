from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from models.errors import SpeechError
from models.events import SpeechRequest
from models.families.kokoro.native.engine import NativeEngine
from models.families.protocol import Turn
from models.gaps import Gap
from models.memory import resident_bytes
from tests.models.families.kokoro.conftest import make
from tests.models.families.kokoro.official import official_model

TEXT = "The boat left the harbour, and nobody looked back."
LANGUAGES = {
    "en": "Good morning to all of you.", "zh": "今天天气很好。", "ja": "今日は良い天気です。",
    "es": "Buenos días a todos, hoy hace muy buen tiempo.",
    "fr": "Bonjour à tous, il fait très beau aujourd’hui.", "hi": "नमस्ते, आप कैसे हैं?",
    "it": "Buongiorno a tutti, oggi è una bella giornata.",
    "pt": "Bom dia a todos, hoje o dia está muito bonito.",
}


def test_importing_the_declaration_is_cheap():
    code = "import sys, models.families.kokoro; print([m for m in ('torch', 'onnx', 'numpy.random') if m in sys.modules])"
    assert "torch" not in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout


def test_on_a_cpu_it_speaks_without_torch():
    """torch would cost seconds at the start and half a gigabyte: the C++ network needs nothing of it."""
    code = """if True:
        import sys
        import numpy as np
        from models.families import family
        from models.families.kokoro.engine import Noise
        from models.families.protocol import ModelSpec
        model = family("kokoro").create(ModelSpec("kokoro", "kokoro", device="cpu", precision="float32"))
        model.load(print)
        if type(model._engine).__name__ == "NativeEngine":
            samples, _ = model._engine.speak([0, 50, 83, 54, 57, 0], np.zeros(256, np.float32), 1.0, Noise(1))
            assert samples.size
            assert "torch" not in sys.modules, "torch"
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_found_and_spoken(model, say, language):
    plan = model.plan(SpeechRequest(text=LANGUAGES[language]))
    assert plan.language == language and plan.voice == model.default_voice(language)
    samples = say(model, LANGUAGES[language], seed=1)
    assert samples.dtype == np.float32 and 0.5 < len(samples) / model.sample_rate < 6
    assert 0.05 < np.abs(samples).max() <= 1


def test_a_seed_reproduces_bit_for_bit(model, say):
    first, again, other = (say(model, TEXT * 3, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other)
    assert say(model, TEXT, seed=-1).size


def test_two_requests_in_turns_do_not_mix(model, say):
    """Segments of two requests alternate on the worker: each must sound as if it were alone."""
    texts = [TEXT * 3, "Quite another story begins here. It goes on for a while, as stories do."]
    alone = [say(model, text, seed=7) for text in texts]
    requests = [SpeechRequest(text=text, seed=7) for text in texts]
    plans, turns, heard = [model.plan(request) for request in requests], [Turn(), Turn()], [[], []]
    for number in range(max(len(plan.segments) for plan in plans)):
        for who, plan in enumerate(plans):
            if number < len(plan.segments):
                heard[who] += model.speak(plan.segments[number], plan, requests[who], turns[who])
    assert all(np.array_equal(np.concatenate(chunks), whole) for chunks, whole in zip(heard, alone))


def test_a_request_in_the_middle_of_another_ones_segment(model, say):
    if not isinstance(model._engine, NativeEngine):
        pytest.skip("no C++ compiler on this machine: torch can't be left")
    inner = {"text": "A short line.", "voice": "jm_kumo", "speed": 1.3, "seed": 2}
    alone, other, others = say(model, TEXT, seed=1), say(model, **inner), []

    def fill():
        others.append(say(model, **inner))
        gap.wanted.value = len(others) < 3

    gap = Gap(fill)
    gap.wanted.value = 1
    assert np.array_equal(say(model, TEXT, Turn(gap=gap), seed=1), alone)
    assert len(others) == 3 and all(np.array_equal(one, other) for one in others)


def test_speed(model, say):
    slow, plain, fast = (len(say(model, TEXT, seed=1, speed=speed)) for speed in (0.7, 1.0, 1.5))
    assert slow > 1.2 * plain and plain > 1.2 * fast


def test_voices_and_mixes(model, say):
    turn = Turn()
    mixed = say(model, TEXT, turn, voice="jf_alpha(2)+jm_kumo(1)", seed=1)
    assert turn.caches == {"style_cache": "miss"} and turn.voice_prepare is not None
    turn = Turn()
    say(model, TEXT, turn, voice="jm_kumo+jf_alpha(2)", seed=1)
    assert turn.caches == {"style_cache": "hit"}
    single = say(model, TEXT, voice="jf_alpha", seed=1)
    assert mixed.shape != single.shape or not np.array_equal(mixed, single)


def test_a_voice_of_another_language_is_allowed(model, say):
    assert model.plan(SpeechRequest(text=TEXT, voice="jf_alpha")).language == "en"
    assert say(model, TEXT, voice="jf_alpha", seed=1).size


def test_british_voices_read_british():
    from models.families.kokoro.model import KokoroModel

    model = make()
    if not any(voice.id == "bf_emma" for voice in model.voices()):
        pytest.skip("only the Japanese voices could be had here")
    british, american = (model._voices.find(name) for name in ("bf_emma", "af_heart"))
    assert isinstance(model, KokoroModel)
    assert (model._english(british, "auto"), model._english(american, "en")) == ("en-gb", "en-us")
    assert model._english(british, "en-us") == "en-us"
    assert model.plan(SpeechRequest(text=TEXT, language="en-gb")).voice == "bf_emma"


@pytest.mark.parametrize("fields, code, field", [
    ({"text": " "}, "text_empty", "text"), ({"text": "!?…"}, "text_unspeakable", "text"),
    ({"text": TEXT, "voice": "af_nobody"}, "voice_unknown", "voice"),
    ({"text": TEXT, "voice": "jf_alpha(0)"}, "voice_mix_invalid", "voice"),
    ({"text": TEXT, "language": "tlh"}, "language_unsupported", "language"),
])
def test_refusals_name_the_field(model, fields, code, field):
    with pytest.raises(SpeechError) as caught:
        model.plan(SpeechRequest(**fields))
    assert (caught.value.code, caught.value.field) == (code, field)


def test_a_word_of_a_thousand_letters_is_no_exception(model, say):
    assert len(say(model, "ba" * 500, seed=1)) / model.sample_rate > 10


def test_official_checkpoints_load(tensors, tmp_path, say):
    official_model(tensors, tmp_path)
    (tmp_path / "voices").mkdir()
    torch.save(torch.full((510, 1, 256), 0.01), tmp_path / "voices" / "af_mine.pt")
    (tmp_path / "empty.pth").unlink()
    model = make(tmp_path)
    assert [voice.id for voice in model.voices()] == ["af_mine"]
    assert say(model, TEXT, seed=1).size
    model.unload()


def test_mem_saver_gives_the_memory_back_and_changes_nothing(model, say):
    saving = make(mem_saver=True)
    assert np.array_equal(say(saving, TEXT, seed=1), say(model, TEXT, seed=1))
    saving.unload()


def test_memory_does_not_grow(model, say):
    texts = [LANGUAGES["en"], TEXT * 2, "Yes.", TEXT * 5]
    for number in range(8):
        say(model, texts[number % 4], seed=number)
    before = resident_bytes()
    for number in range(24):
        say(model, texts[number % 4], seed=number)
    assert resident_bytes() - before < 0.03 * before


def test_warming_reports_its_stages(model):
    stages = list(model.warm())
    assert len(stages) == len(set(stages)) > 3
