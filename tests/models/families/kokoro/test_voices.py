from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from models.errors import SpeechError
from models.families.kokoro import catalogue
from models.families.kokoro.voices import Voices, published

NAMES = ("af_heart", "am_michael", "bf_emma", "jf_alpha", "zf_xiaoxiao")


def some(slots: int = 2) -> Voices:
    def reader(number: int):
        return lambda: np.full((510, 256), number, np.float32)

    return Voices("kokoro", {name: reader(number) for number, name in enumerate(NAMES)}, slots)


def test_ids_tell_language_and_gender():
    voice = catalogue.describe("bf_emma")
    assert (voice.name, voice.language, voice.gender) == ("Emma", "en-gb", "f")
    assert catalogue.describe("jm_kumo").language == "ja"
    assert catalogue.describe("my_own_voice").gender == ""


def test_default_voices():
    voices = catalogue.arranged(NAMES)
    wanted = {"en": "af_heart", "auto": "af_heart", "en-GB": "bf_emma", "ja": "jf_alpha", "zh": "zf_xiaoxiao",
              "fr": "af_heart"}
    assert {language: catalogue.default_voice(voices, language) for language in wanted} == wanted
    assert catalogue.default_voice(catalogue.arranged(["jf_alpha", "jm_kumo"]), "en") == "jf_alpha"


def test_a_mix_is_the_weighted_mean():
    voices = some()
    style, hit = voices.style(voices.find("af_heart(3) + am_michael"))
    assert np.allclose(style, 0.25) and not hit
    assert voices.style(voices.find("am_michael(1)+af_heart(3)"))[1]  # the same mix in other words
    assert voices.find("af_heart(3)+am_michael").main == "af_heart"


def test_a_voice_named_twice_counts_twice():
    voices = some()
    style, _ = voices.style(voices.find("am_michael+am_michael+af_heart"))
    assert np.allclose(style, 2 / 3)


def test_the_cache_is_bounded_and_counted():
    voices = some(slots=2)
    for name in ("af_heart", "am_michael", "bf_emma", "af_heart"):
        voices.style(voices.find(name))
    report = voices.styles.report()
    assert (report["entries"], report["hits"], report["misses"], report["evictions"]) == (2, 0, 4, 2)
    assert report["bytes"] == 2 * 510 * 256 * 4


def test_equal_voices_under_two_names_share_an_entry(tmp_path):
    for name in ("af_one", "af_two"):
        torch.save(torch.ones(510, 1, 256), tmp_path / f"{name}.pt")
    voices = Voices("kokoro", published(sorted(tmp_path.glob("*.pt"))), 4)
    voices.style(voices.find("af_one"))
    assert voices.style(voices.find("af_two"))[1]


@pytest.mark.parametrize("text", ["af_heart(0)", "af_heart(-1)", "af_heart(", "+", "af_heart+", "af_heart(x)", "",
                                  "a b"])
def test_mixes_that_cannot_be_read(text):
    with pytest.raises(SpeechError) as caught:
        some().find(text)
    assert caught.value.code in ("voice_mix_invalid", "voice_unknown") and caught.value.field == "voice"


def test_an_unknown_voice_gets_the_nearest_names():
    with pytest.raises(SpeechError) as caught:
        some().find("af_hart")
    assert caught.value.code == "voice_unknown" and "af_heart" in str(caught.value)
    assert "af_heart" in caught.value.sentence("zh")


@given(st.text(max_size=40))
def test_any_text_is_a_voice_or_a_clear_refusal(text):
    try:
        assert some().find(text).parts
    except SpeechError as error:
        assert error.status in (404, 422)


def test_a_voice_file_of_another_size_is_refused(tmp_path):
    torch.save(torch.ones(3, 256), tmp_path / "af_short.pt")
    voices = Voices("kokoro", published([tmp_path / "af_short.pt"]), 4)
    with pytest.raises(SpeechError) as caught:
        voices.style(voices.find("af_short"))
    assert caught.value.code == "weights_broken"
