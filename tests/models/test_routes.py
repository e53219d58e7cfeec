from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.config import load_config
from models.errors import SpeechError
from models.events import SpeechRequest
from models.pool import Pool
from models.routes import choose
from models.voices.clip import Clip

FLEET = '[[models]]\nid = "a"\nfamily = "vits"\n[[models]]\nid = "b"\nfamily = "vits"\n'
ROUTES = {"zh": "big", "en": "small", "default": "wide"}
READY = {"small": ("en",), "big": ("zh", "en"), "wide": ("en", "fr", "ja", "zh"), "tiny": ("fr",)}


@pytest.mark.parametrize(("text", "language", "chosen"), [
    ("Good morning, everyone.", "auto", "small"), ("大家早上好。", "auto", "big"),
    ("今天我们学习 machine learning 的基础。", "auto", "big"), ("Bonjour à tous, comment allez-vous ?", "auto", "wide"),
    ("Good morning.", "zh-CN", "big"), ("大家早上好。", "fr", "wide"), ("みなさん、おはようございます。", "auto", "wide"),
    ("12345", "auto", "small"), ("", "auto", "wide"), ("?!", "auto", "wide"), ("Hello", "xx", "wide"),
])
def test_the_language_decides(text, language, chosen):
    assert choose(text, language, ROUTES, READY, "tiny") == chosen


def test_only_ready_models_are_chosen():
    def without(*names):
        return {name: tags for name, tags in READY.items() if name not in names}

    assert choose("大家早上好。", "auto", ROUTES, without("big"), "tiny") == "wide"
    assert choose("Good day to you all.", "auto", ROUTES, without("small", "wide"), "tiny") == "big"
    assert choose("Bonjour à tous, comment allez-vous ?", "auto", ROUTES, without("wide"), "small") == "tiny"
    assert choose("大家早上好。", "auto", ROUTES, {"tiny": ("fr",)}, "small") == "tiny"  # nobody speaks it, one is there
    assert choose("大家早上好。", "auto", ROUTES, {}, "small") == "big"  # its session then says that it is not ready


def test_without_routes_the_default_model_speaks_what_it_can():
    assert choose("Good morning, everyone.", "auto", {}, READY, "big") == "big"
    assert choose("Bonjour à tous, comment allez-vous ?", "auto", {}, READY, "big") == "wide"


def load(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    return load_config(path)


def test_routes_are_read_and_belong_to_the_whole_fleet(tmp_path):
    config = load(tmp_path, FLEET + '[routes]\nzh = "b"\ndefault = "a"\n')
    assert config.routes == {"zh": "b", "default": "a"}
    assert config.only("a").routes == {} and load(tmp_path, FLEET).routes == {}


@pytest.mark.parametrize(("text", "said"), [
    ('[routes]\nzh = "bb"\n', "did you mean b?"),
    ('[routes]\nchinese = "b"\n', "chinese must be a language such as zh"),
    ('[routes]\nzh = 3\n', "the id of a model"), ('[[routes]]\nzh = "b"\n', "[routes] table")])
def test_wrong_routes_are_told(tmp_path, text, said):
    with pytest.raises(SpeechError) as caught:
        load(tmp_path, FLEET + text)
    assert caught.value.code == "config_invalid" and said in caught.value.sentence()


def test_no_model_is_called_auto(tmp_path):
    with pytest.raises(SpeechError, match="other than"):
        load(tmp_path, FLEET.replace('"a"', '"auto"'))


@pytest.fixture(scope="module")
def pool(tmp_path_factory) -> Pool:
    config = load(tmp_path_factory.mktemp("fleet"), FLEET + '[routes]\nen = "b"\ndefault = "a"\n')
    running = Pool(replace(config, models=(config.models[0], replace(config.models[1], lazy=True))))
    running.start()
    running.wait_ready(120)
    yield running
    running.close()


def test_the_pool_routes_requests_that_leave_it_open(pool):
    def chosen(**request):
        return pool.session_for(SpeechRequest("Good morning, everyone.", **request)).spec.id

    assert chosen() == chosen(model="a") == "a" and chosen(model="b") == "b"
    assert pool.sessions["b"].state == "registered"
    assert chosen(model="auto") == "a"  # b is not loaded yet
    pool.sessions["b"].start()
    pool.sessions["b"].wait_ready(120)
    assert chosen(model="auto") == "b"
    with pytest.raises(SpeechError, match="no model called c"):
        chosen(model="c")
    request = SpeechRequest("Good morning.", model="auto")
    heard = pool.session_for(request).run(request)
    assert heard.metrics.model == "b" and heard.metrics.audio_seconds > 0.3


def test_a_clip_goes_to_a_model_that_clones(pool):
    clip = Clip(np.ones(24000, np.float32), 24000)
    request = SpeechRequest("Good morning, everyone.", model="auto", clip=clip)
    assert pool.session_for(request).spec.id == "b"  # nobody here clones: the route stands, and its session answers
    pool.sessions["a"].model.clones = True
    try:
        assert pool.session_for(request).spec.id == "a"
    finally:
        del pool.sessions["a"].model.clones
