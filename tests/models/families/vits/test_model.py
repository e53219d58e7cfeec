from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest

from models.errors import SpeechError
from models.families import family
from models.families.protocol import ModelSpec, Turn
from models.gaps import Gap
from models.memory import resident_bytes
from tests.models.families.vits.conftest import load

TEXT = "The boat left the harbour, and nobody looked back."


def test_importing_the_declaration_is_cheap():
    code = "import sys, models.families.vits; print([m for m in ('onnxruntime', 'onnx', 'torch') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_the_default_voice(joe):
    assert joe.sample_rate == 22_050 and joe.languages == ("en",)
    assert [(voice.id, voice.name, voice.language) for voice in joe.voices()] == [("en_US-joe-medium", "joe", "en-us")]
    assert joe.default_voice("en") == joe.default_voice("auto") == "en_US-joe-medium"


def test_a_seed_reproduces(joe, say):
    first, again, other = (say(joe, TEXT, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other)
    assert not np.array_equal(say(joe, TEXT)[:8000], say(joe, TEXT)[:8000])


@pytest.mark.parametrize("slots", [2, 1])
def test_a_request_in_the_middle_of_another_ones_segment(say, default_folder, tmp_path, slots):
    """Between any two windows, in another voice, even if the first one's has to leave its slot for that."""
    for file in default_folder.glob("*.onnx*"):
        for name in ("one", "two"):
            shutil.copy(file, tmp_path / file.name.replace("joe", name))
    model = load(tmp_path, voice_cache_slots=slots, mem_saver=slots == 1)
    outer, inner = ({"voice": f"en_US-{name}-medium", "seed": 2} for name in ("one", "two"))
    inner |= {"text": "A short line.", "speed": 1.3}
    alone, other, others = say(model, TEXT, **outer), say(model, **inner), []

    def fill():
        others.append(say(model, **inner))
        gap.wanted.value = len(others) < 3

    gap = Gap(fill)
    gap.wanted.value = 1
    assert np.array_equal(say(model, TEXT, Turn(gap=gap), **outer), alone)
    assert len(others) == 3 and all(np.array_equal(one, other) for one in others)
    model.unload()


def test_samples_are_float32_mono_in_range(joe, say):
    samples = say(joe, TEXT, seed=1)
    assert samples.dtype == np.float32 and samples.ndim == 1
    assert 0.1 < np.abs(samples).max() <= 1.0


def test_speed(joe, say):
    normal, quick, slow = (say(joe, TEXT, seed=1, speed=speed, options={"noise_w": 0.0}) for speed in (1.0, 2.0, 0.5))
    assert 0.35 < len(quick) / len(normal) < 0.75
    assert 1.5 < len(slow) / len(normal) < 2.2


def test_controls(joe, say):
    still = [say(joe, TEXT, seed=seed, options={"noise_scale": 0.0, "noise_w": 0.0}) for seed in (1, 2)]
    assert np.allclose(*still, atol=1e-5)
    assert set(family("vits").controls) == {"noise_scale", "noise_w"}


def test_pauses_stand_between_segments_only(joe):
    from models.events import SpeechRequest

    request = SpeechRequest(text="One line here.\n\nAnother line there.", seed=1)
    plan = joe.plan(request)
    assert len(plan.segments) == 2
    spoken = [list(joe.speak(segment, plan, request, Turn())) for segment in plan.segments]
    assert not spoken[0][-1].any() and 0.3 < len(spoken[0][-1]) / joe.sample_rate < 0.6
    assert spoken[1][-1].any()


def test_phonemes_are_remembered_and_counted(joe, say):
    turn = Turn()
    text = "A sentence that only this test speaks."
    say(joe, text, turn)
    assert turn.caches["phoneme_cache"] == "miss"
    say(joe, text, turn)
    assert turn.caches["phoneme_cache"] == "hit"
    assert {slots.name for slots in joe.slots()} == {"voice_cache", "phoneme_cache"}


@pytest.mark.parametrize("text", ["你好，世界。", "Привет, мир!", "I love 北京 and 上海 very much"])
def test_text_in_another_script_is_refused_with_a_reason(joe, text):
    from models.events import SpeechRequest

    with pytest.raises(SpeechError) as caught:
        joe.plan(SpeechRequest(text=text))
    assert (caught.value.code, caught.value.field, caught.value.status) == ("script_unsupported", "text", 422)
    assert "letters" in str(caught.value) or "characters" in str(caught.value)


def test_a_stray_greek_letter_is_spoken(joe, say):
    assert len(say(joe, "The α particle is heavy.", seed=1)) > joe.sample_rate


@pytest.mark.parametrize(("fields", "code", "field"), [
    ({"text": "Hello.", "voice": "joan"}, "voice_unknown", "voice"),
    ({"text": "Hello.", "language": "zh"}, "language_unsupported", "language"),
    ({"text": "  "}, "text_empty", "text"),
    ({"text": "?!…"}, "text_unspeakable", "text"),
])
def test_what_a_request_may_not_ask(joe, fields, code, field):
    from models.events import SpeechRequest

    with pytest.raises(SpeechError) as caught:
        joe.plan(SpeechRequest(**fields))
    assert (caught.value.code, caught.value.field) == (code, field)


def test_speakers_are_voices(crowd, say):
    name = "xx_XX-tiny-low"
    assert [voice.id for voice in crowd.voices()] == [f"{name}/{speaker}" for speaker in ("anna", "ben", "cleo")]
    anna, ben, by_name, by_file = (say(crowd, "hello there", seed=1, voice=voice)
                                   for voice in (f"{name}/anna", f"{name}/ben", "ben", name))
    assert not np.array_equal(anna[:4000], ben[:4000])
    assert np.array_equal(ben, by_name) and np.array_equal(anna, by_file)


def test_a_near_miss_is_named(crowd):
    from models.events import SpeechRequest

    with pytest.raises(SpeechError, match="did you mean ben"):
        crowd.plan(SpeechRequest(text="hello", voice="benn"))


def test_default_voice_of_the_configuration(tiny_folder):
    assert load(tiny_folder, voice="cleo").default_voice("auto") == "xx_XX-tiny-low/cleo"
    with pytest.raises(SpeechError) as caught:
        load(tiny_folder, voice="zoe")
    assert caught.value.code == "voice_unknown"


def test_several_files_are_several_voices_and_memory_holds_only_so_many(tiny_folder, tmp_path, say):
    for name in ("en_US-one-low", "en_US-two-low", "en_US-three-low"):
        for file in tiny_folder.iterdir():
            shutil.copyfile(file, tmp_path / file.name.replace("xx_XX-tiny-low", name))
    model = load(tmp_path, voice_cache_slots=2)
    assert len(model.voices()) == 9
    heard = {name: say(model, "hello there", seed=1, voice=f"en_US-{name}-low/ben") for name in ("one", "two", "three")}
    assert np.array_equal(heard["one"], heard["two"])  # the same weights
    cache = model.slots()[0].report()
    assert (cache["entries"], cache["misses"], cache["evictions"]) == (2, 3, 1)
    with pytest.raises(SpeechError) as caught:  # "ben" is in all three files
        say(model, "hello there", voice="ben")
    assert caught.value.code == "voice_unknown"


def test_warming_covers_all_stages(joe):
    assert list(joe.warm()) == ["text", "phonemes", "encoder", "first window", "windows", "sentence"]


def test_unload_gives_memory_back(default_folder, say):
    load(None).unload()  # what libraries keep for good is paid once
    before = resident_bytes()
    model = load(None)
    list(model.warm())
    say(model, TEXT)
    held = resident_bytes() - before
    model.unload()
    assert held > 40e6
    assert resident_bytes() - before < 0.3 * held


GROWTH = """
from models.memory import few_arenas, resident_bytes
from tests.models.families.vits.conftest import load, spoken
few_arenas()
model, words = load(None), "TEXT".split()
for number in range(150):
    spoken(model, " ".join(words[:1 + number % len(words)]))
    if number % 30 == 29:
        spoken(model, " ".join(words * 8))
        print(resident_bytes())
"""


def test_memory_does_not_grow_with_what_is_spoken():
    """In a process of its own: what other tests left free would hide or feign growth."""
    done = subprocess.run([sys.executable, "-c", GROWTH.replace("TEXT", TEXT)], capture_output=True, text=True, check=True)
    held = [int(line) for line in done.stdout.split()]
    assert len(held) == 5 and held[-1] < held[1] + 6e6, held


def test_spoken_words_are_heard(joe, say):
    from tests.listening import transcribe, word_error_rate

    sentences = (
        "The old lighthouse keeper climbed the spiral stairs every evening.",
        "She bought seven oranges, a loaf of bread and two bottles of milk.",
        "Nobody in the village remembered a winter as cold as this one.",
        "Please remember to close the window before you leave the house.",
        "When the storm had passed, the fishermen pulled their boats back into the water.",
    )
    errors = [word_error_rate(text, transcribe(say(joe, text, seed=1), joe.sample_rate, "en")) for text in sentences]
    assert np.mean(errors) <= 0.05, errors


def test_a_folder_of_nothing_fails_to_load(tmp_path):
    with pytest.raises(SpeechError) as caught:
        family("vits").create(ModelSpec("mine", "vits", path=tmp_path)).load(print)
    assert caught.value.code == "weights_broken"
