from __future__ import annotations

import sys
from pathlib import Path

import pytest

from models import families
from models.config import load_config
from models.errors import SpeechError
from models.families import REGISTRY, family
from models.families.protocol import ModelSpec
from models.pool import Pool
from models.published import checkpoint, checkpoints, spec_of, with_families

OPTIONAL = ("voxcpm", "pocket_tts", "supertonic", "qwen3_tts")


@pytest.fixture
def config(tmp_path):
    (tmp_path / "config.toml").write_text('[[models]]\nid = "joe"\nfamily = "vits"\n')
    return load_config(tmp_path / "config.toml")


def test_asked_for_families_join_the_fleet_with_their_default_checkpoint(config):
    enabled = with_families(config, ["voxcpm", "pocket_tts", "supertonic", "qwen3_tts", "vits"])
    assert [spec.id for spec in enabled.models] == [
        "joe", "voxcpm-1.5", "pocket", "supertonic-3", "qwen3-tts-0.6b-custom-voice"]
    assert enabled.models[1].options["checkpoint"] == "voxcpm-1.5" and enabled.models[1].options["prompt_cache_slots"] == 1
    assert enabled.server == config.server and with_families(enabled, OPTIONAL) == enabled
    assert [entry["id"] for entry in Pool(enabled).catalog()["models"]] == [spec.id for spec in enabled.models]


def test_a_family_that_is_configured_stays_as_it_is(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[[models]]\nid = "mine"\nfamily = "voxcpm"\nlazy = true\n')
    assert [spec.id for spec in with_families(load_config(path), ["voxcpm"]).models] == ["mine"]


def test_a_taken_name_gives_way(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[[models]]\nid = "pocket"\nfamily = "vits"\n')
    assert [spec.id for spec in with_families(load_config(path), ["pocket_tts"]).models] == ["pocket", "pocket_tts"]


def test_unknown_names_get_the_nearest(config):
    with pytest.raises(SpeechError, match="did you mean supertonic"):
        with_families(config, ["supertonik"])
    with pytest.raises(SpeechError, match="did you mean qwen3-tts-1.7b-base"):
        checkpoint("qwen3-tts-1.7-base")


def test_defaults_come_first_and_every_name_is_a_choice_of_its_family():
    for about in map(family, REGISTRY):
        assert len(about.published) >= 1
        for one in about.published:
            for key, value in one.options.items():
                choices = about.options[key].choices
                assert choices is None or value in choices
        defaults = spec_of(about, about.published[0]).options
        assert defaults == {name: option.default for name, option in about.options.items()}
    assert len(checkpoints()) == sum(len(family(name).published) for name in REGISTRY)


def test_pocket_s_names_are_the_package_s():
    from models.families.pocket_tts.checkpoint import released

    for one in family("pocket_tts").published:
        assert released(one.options["checkpoint"], "pocket")["flow_lm"]


@pytest.mark.parametrize("name", OPTIONAL)
@pytest.mark.parametrize("step", ["fetch", "create"])
def test_without_its_packages_a_family_names_the_command(name, step, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, family(name).requires[0], None)
    spec = ModelSpec("mine", name, path=Path(tmp_path))
    with pytest.raises(SpeechError, match=f"install it with bash start.sh --with {name}") as caught:
        getattr(families, step)(*((spec, print) if step == "fetch" else (spec,)))
    assert caught.value.code == "package_missing" and "mine needs" in caught.value.sentence()
