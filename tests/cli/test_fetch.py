"""`fetch` and `--with`: from a hub to a model that speaks, without a word in config.toml."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest
import soundfile

from models.weights import home
from tests.checkpoints.make_voxcpm import tiny
from tests.hubs import files_of, running
from tests.served import ROOT


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return files_of(tiny(tmp_path_factory.mktemp("voxcpm") / "checkpoint", "1.5"))


@pytest.fixture
def own_home(tmp_path):
    """A home without checkpoints; packages may stay where they are."""
    place = tmp_path / "home"
    place.mkdir()
    (home() / "packages").mkdir(exist_ok=True)
    (place / "packages").symlink_to(home() / "packages")
    return place


def run(own_home, *arguments, **env):
    return subprocess.run([sys.executable, str(ROOT / "app.py"), *arguments], capture_output=True, text=True, timeout=300,
                          cwd=own_home.parent, env={**os.environ, "READYVOICE_HOME": str(own_home),
                                                    "HF_ENDPOINT": "http://127.0.0.1:9", "READYVOICE_MIRROR": "", **env})


def test_fetched_ahead_listed_and_spoken_without_network(own_home, repository):
    assert "voxcpm-1.5                    about 2.0 GB    not on this machine" in run(own_home, "fetch").stdout
    with running({"openbmb/VoxCPM1.5": repository}) as hub:
        done = run(own_home, "fetch", "voxcpm-1.5", HF_ENDPOINT=hub.address)
    assert done.returncode == 0, done.stderr
    assert "licence: Apache-2.0" in done.stdout and "100 % of" in done.stdout
    assert 'family = "voxcpm"' in done.stdout and "bash start.sh --with voxcpm" in done.stdout
    listed = run(own_home, "fetch").stdout
    assert f"here, {sum(map(len, repository.values())) / 1e6:.0f} MB: {own_home}" in listed
    spoken = run(own_home, "say", "Hello there.", "--with", "voxcpm", "--model", "voxcpm-1.5", "--seed", "1")
    assert spoken.returncode == 0, spoken.stderr
    assert soundfile.info(own_home.parent / "speech.wav").samplerate == 44100


def test_the_lines_for_the_configuration_are_valid(own_home, repository, tmp_path):
    from models.config import load_config

    with running({"openbmb/VoxCPM2": repository}) as hub:
        told = run(own_home, "fetch", "voxcpm-2", HF_ENDPOINT=hub.address).stdout
    lines = told.partition("config.toml:\n")[2].partition("\nand start")[0]
    (tmp_path / "config.toml").write_text(lines)
    (spec,) = load_config(tmp_path / "config.toml").models
    assert (spec.id, spec.family, spec.options["checkpoint"]) == ("voxcpm-2", "voxcpm", "voxcpm-2")


def test_from_modelscope(own_home, repository):
    with running({"OpenBMB/VoxCPM1.5": repository}) as mirror:
        done = run(own_home, "fetch", "voxcpm-1.5", "--mirror", "modelscope", MODELSCOPE_ENDPOINT=mirror.address)
    assert done.returncode == 0, done.stderr
    assert "from ModelScope" in done.stdout and "100 % of" in done.stdout and done.stderr == ""


@pytest.mark.parametrize(("arguments", "says"), [
    (["fetch", "voxcpm-15"], "did you mean voxcpm-1.5?"),
    (["fetch", "voxcpm-1.5"], "127.0.0.1:9 does not answer"),
    (["say", "Hi.", "--with", "voxcmp"], "did you mean voxcpm?"),
    (["say", "Hi.", "--with", "voxcpm", "--model", "voxcpm-1.5"], "127.0.0.1:9 does not answer"),
])
def test_what_is_wrong_in_one_sentence(own_home, arguments, says):
    done = run(own_home, *arguments)
    assert done.returncode == 1 and says in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) == 1
