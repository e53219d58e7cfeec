"""The loop gives the official package's frames, one at a time."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from models.events import SpeechRequest
from models.families.qwen3_tts.talker import Talker
from tests.models.families.qwen3_tts.conftest import WORDS

TEXT = "Hello there, my dear old friend."
SECONDS = 2.0
PLAIN = {"normalise": False, "max_seconds": SECONDS}


def whole(official, kind: str, clip, limit: int, seed: int, **sampling) -> np.ndarray:
    """What the package answers, called as its documentation does."""
    torch.manual_seed(seed)
    settings = {"max_new_tokens": limit + 1, **sampling}  # it never says its last code
    match kind:
        case "base":
            answer = official.generate_voice_clone(TEXT, "English", (clip.samples, clip.sample_rate), WORDS, **settings)
        case "timbre":
            answer = official.generate_voice_clone(TEXT, "English", (clip.samples, clip.sample_rate),
                                                   x_vector_only_mode=True, **settings)
        case "custom_voice":
            answer = official.generate_custom_voice(TEXT, "Ryan", "English", "very slow", **settings)
        case "voice_design":
            answer = official.generate_voice_design(TEXT, "a small girl", "English", **settings)
    return answer[0][0]


@pytest.mark.filterwarnings("ignore:Passing `repetition_penalty`")
@pytest.mark.parametrize("sampling", [{}, {"temperature": 0.5, "top_k": 12, "top_p": 0.7, "repetition_penalty": 1.5},
                                      {"temperature": 1.0, "top_k": 0}])
@pytest.mark.parametrize("kind", ["base", "timbre", "custom_voice", "voice_design"])
def test_a_seed_gives_the_packages_own_answer(sessions, clip_of, kind, sampling):
    session = sessions["base" if kind == "timbre" else kind]
    clip = clip_of(1) if kind in ("base", "timbre") else None
    options = PLAIN | sampling | {"timbre_only": kind == "timbre"}
    if clip is None:
        options["instruction"] = "very slow" if kind == "custom_voice" else "a small girl"
    voice = "ryan" if kind == "custom_voice" else ""
    ours = session.run(SpeechRequest(TEXT, seed=11, clip=clip, voice=voice, options=options)).samples
    state = torch.get_rng_state()
    theirs = session.ask(lambda model: whole(model._official, kind, clip, round(SECONDS * 12.5), 11, **sampling))
    torch.set_rng_state(state)
    assert len(ours) == len(theirs) >= 1920
    assert np.abs(ours[:-240] - theirs[:-240]).max() < 2e-4  # the last 10 ms are faded where the limit cut it off


def test_what_is_said_already_is_gone_on_from(sessions):
    """Forced frames leave the talker where speaking them itself would have left it."""
    def compare(model):
        official = model._official
        talker = Talker(official)
        prompt = talker.prompt(lambda: official.generate_voice_design(TEXT, "a queen", "english", temperature=0.7))
        spoken = torch.cat(list(talker.frames(prompt, torch.Generator().manual_seed(2), 24)))
        greedy = talker.prompt(lambda: official.generate_voice_design(TEXT, "a queen", "english", do_sample=False,
                                                                      subtalker_dosample=False))
        likeliest = torch.cat(list(talker.frames(greedy, torch.Generator(), 24)))
        rest = torch.cat(list(talker.frames(greedy, torch.Generator(), len(likeliest) - 9, likeliest[:9])))
        other = torch.cat(list(talker.frames(greedy, torch.Generator(), 12, spoken[:9])))
        return likeliest, rest, other

    likeliest, rest, other = sessions["voice_design"].ask(compare)
    assert len(likeliest) > 12 and torch.equal(rest, likeliest[9:])
    assert not torch.equal(other, rest[:len(other)])


def test_taking_a_prompt_leaves_the_package_whole(sessions, clip_of):
    def check(model):
        official = model._official
        with pytest.raises(ValueError, match="Unsupported languages"):
            Talker(official).prompt(lambda: official.generate_custom_voice(TEXT, "ryan", "klingon"))
        return "generate" in vars(official.model.talker)

    assert sessions["custom_voice"].ask(check) is False


def test_left_between_two_frames_nothing_remains(sessions):
    def frames(model, count):
        official = model._official
        talker = Talker(official)
        prompt = talker.prompt(lambda: official.generate_custom_voice(TEXT, "ryan", "english"))
        running = talker.frames(prompt, torch.Generator().manual_seed(4), 20)
        taken = list(itertools.islice(running, count))
        running.close()
        return torch.cat(taken)

    session = sessions["custom_voice"]
    first = session.ask(lambda model: frames(model, 20))
    for count in (1, 5):
        session.ask(lambda model, count=count: frames(model, count))
    assert torch.equal(session.ask(lambda model: frames(model, 20)), first)
