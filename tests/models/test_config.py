from __future__ import annotations

from pathlib import Path

import pytest

from models.config import load_config
from models.errors import SpeechError

REPO = Path(__file__).resolve().parents[2]


def load(tmp_path, text, **overrides):
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path, overrides)


MINIMAL = '[[models]]\nid = "k"\nfamily = "kokoro"\n'


def test_the_shipped_configuration_is_valid_and_local():
    config = load_config(REPO / "config.toml")
    assert config.server.host == "127.0.0.1" and config.server.port == 6006
    assert {spec.family for spec in config.models} == {"kokoro", "vits"}
    assert not any(spec.lazy for spec in config.models)


def test_defaults_fill_in(tmp_path):
    config = load(tmp_path, MINIMAL)
    assert config.server.default_model == "k"
    assert config.models[0].options["style_cache_slots"] == 16
    assert config.models[0].options["mem_saver"] is False


def test_limits_are_there_but_hold_without_a_password_only_when_asked_for(tmp_path):
    assert load(tmp_path, MINIMAL).limits.requests == 120 and not load(tmp_path, MINIMAL).limits_given
    config = load(tmp_path, "[limits]\nrequests = 5\n" + MINIMAL)
    assert (config.limits.requests, config.limits.at_once, config.limits_given) == (5, 16, True)


def test_session_options_and_paths_are_read(tmp_path):
    config = load(tmp_path, MINIMAL + 'path = "weights"\nkokoro.style_cache_slots = 3\nkokoro.mem_saver = true\n')
    assert config.models[0].options["style_cache_slots"] == 3
    assert config.models[0].options["mem_saver"] is True
    assert config.models[0].path == tmp_path / "weights"


def test_command_line_wins(tmp_path):
    config = load(tmp_path, "[server]\nport = 7000\n" + MINIMAL, port=7001, host=None)
    assert (config.server.port, config.server.host) == (7001, "127.0.0.1")


@pytest.mark.parametrize(("text", "code", "said"), [
    ('[servr]\n' + MINIMAL, "config_unknown_key", "did you mean server?"),
    ('[server]\nprot = 1\n' + MINIMAL, "config_unknown_key", "did you mean port?"),
    (MINIMAL + "kokoro.style_cache_slot = 3\n", "config_unknown_key", "kokoro.style_cache_slot (did you mean style_cache_slots?)"),
    (MINIMAL + "precison = 'auto'\n", "config_unknown_key", "did you mean precision?"),
    (MINIMAL + "vits.mem_saver = true\n", "config_unknown_key", "unknown key vits"),
    ('[[models]]\nid = "k"\nfamily = "kokro"\n', "config_invalid", "did you mean kokoro?"),
    ('[[models]]\nfamily = "kokoro"\n', "config_invalid", "id must be a name"),
    (MINIMAL + MINIMAL, "config_invalid", "the id k must be used by one model only"),
    (MINIMAL + "kokoro.style_cache_slots = -1\n", "config_invalid", "style_cache_slots must be a whole number"),
    (MINIMAL + 'kokoro.mem_saver = "yes"\n', "config_invalid", "mem_saver must be true or false"),
    (MINIMAL + "lazy = 1\n", "config_invalid", "lazy must be true or false"),
    (MINIMAL + 'device = "gpu"\n', "config_invalid", "device must be auto, cpu, cuda or cuda:N"),
    (MINIMAL + 'precision = "int8"\n', "config_invalid", "precision must be one of"),
    ("[server]\nport = true\n" + MINIMAL, "config_invalid", "port must be a whole number from 0 to 65535"),
    ('[server]\ndefault_model = "x"\n' + MINIMAL, "config_invalid", "default_model must be one of k"),
    ("[server]\n", "config_invalid", "models must be one or more"),
    ('[server]\ntrusted_proxies = "my proxy"\n' + MINIMAL, "config_invalid", "trusted_proxies must be addresses or networks"),
    ("[limits]\nrequest = 1\n" + MINIMAL, "config_unknown_key", "did you mean requests?"),
    ("[limits]\nat_once = -1\n" + MINIMAL, "config_invalid", "at_once must be a whole number from 0"),
    ("limits = 3\n" + MINIMAL, "config_invalid", "limits must be a [limits] table"),
    ("[server\n", "config_file", "can't be read"),
])
def test_what_is_wrong_is_named_with_the_nearest_right(tmp_path, text, code, said):
    with pytest.raises(SpeechError) as caught:
        load(tmp_path, text)
    assert caught.value.code == code
    assert said in caught.value.sentence("en")
    assert caught.value.sentence("zh") != caught.value.sentence("en")


def test_one_model_alone(tmp_path):
    config = load(tmp_path, MINIMAL + '[[models]]\nid = "j"\nfamily = "vits"\n').only("j")
    assert [spec.id for spec in config.models] == ["j"] and config.server.default_model == "j"
    with pytest.raises(SpeechError, match="choose one of"):
        config.only("k2")
