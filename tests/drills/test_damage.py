"""What was fetched or made lies cut or emptied on the disk: the next start makes it again, and speaks."""
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile

from models.families.kokoro import weights as kokoro
from models.families.kokoro.native import build
from models.folders import SEAL
from models.voices import encoder_weights, tools, transcribe
from models.weights import home
from tests.listening import transcribe as heard
from tests.listening import word_error_rate
from tests.served import ROOT

LINE = "Good morning, and welcome to the harbour."
KINDS = ("kokoro/v1.0/model.safetensors", "kokoro/v1.0/voices.safetensors", "kokoro/native/*/kokoro.so", "vits/*/encoder.onnx",
         "vits/*/layout.json", "packages/joe*/*/data/*.onnx")


@pytest.fixture
def copy(tmp_path) -> Iterator[Path]:
    """A second cache folder: links to what lies in this machine's, so that damage stays there."""
    kokoro.fetch(None), build.library(), tools.fetch()
    folder = tmp_path / "home"
    sealed = [seal.parent for seal in home().glob(f"[pvw]*/*/{SEAL}")]  # older ones are made again
    for part in (home() / "kokoro", *sealed):
        for file in part.rglob("*"):
            if file.is_file():
                target = folder / file.relative_to(home())
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, target) if os.stat(tmp_path).st_dev == file.stat().st_dev else target.symlink_to(file)
    yield folder


def damage(folder: Path, pattern: str, keep: float) -> Path:
    """Leave only the beginning of a file, as a full disk or a lost power supply does."""
    file = next(path for path in sorted(folder.glob(pattern)) if not path.name.startswith("."))
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(data[:int(len(data) * keep)])
    return file


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    env = {**os.environ, "READYVOICE_HOME": str(folder), "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(home() / "pip"))}
    return subprocess.run([sys.executable, str(ROOT / "app.py"), *arguments], env=env, capture_output=True, text=True, timeout=900)


@pytest.mark.parametrize(("pattern", "keep"), [(KINDS[0], 0.5), (KINDS[1], 0.0), (KINDS[2], 0.5)])
def test_kokoro_is_made_again(copy, tmp_path, pattern, keep):
    file = damage(copy, pattern, keep)
    done = run(copy, "say", LINE, "--model", "kokoro", "--out", str(tmp_path / "line.wav"))
    assert done.returncode == 0, done.stderr
    assert word_error_rate(LINE, heard(*soundfile.read(tmp_path / "line.wav", dtype="float32"), "en")) <= 0.15
    assert file.stat().st_size > 1000 and "Traceback" not in done.stderr


@pytest.mark.parametrize("pattern", [KINDS[3], KINDS[5]])
def test_joe_is_made_again(copy, tmp_path, pattern):
    assert run(copy, "say", "Hi.", "--model", "joe", "--out", str(tmp_path / "line.wav")).returncode == 0
    damage(copy, pattern, 0.5)
    done = run(copy, "say", LINE, "--model", "joe", "--out", str(tmp_path / "line.wav"))
    assert done.returncode == 0, done.stderr
    assert word_error_rate(LINE, heard(*soundfile.read(tmp_path / "line.wav", dtype="float32"), "en")) <= 0.3


def test_the_tools_for_cloning_are_made_again(copy, monkeypatch):
    """In this process, with the damaged folder as its cache."""
    monkeypatch.setenv("READYVOICE_HOME", str(copy))
    tools.fetch()
    damage(copy, "whisper/*/model.bin", 0.5)
    damage(copy, "packages/resemblyzer*/resemblyzer/pretrained.pt", 0.5)
    assert transcribe.fetch().joinpath("model.bin").stat().st_size > 100e6
    assert encoder_weights.fetch().stat().st_size > 10e6


def test_a_damaged_checkpoint_of_the_users_own_is_left_alone_and_named(copy, tmp_path):
    own = tmp_path / "own.safetensors"
    data = (copy / KINDS[0]).read_bytes()
    own.write_bytes(data[:len(data) // 2])
    config = tmp_path / "config.toml"
    config.write_text(f'[[models]]\nid = "kokoro"\nfamily = "kokoro"\npath = "{own}"\n')
    done = run(copy, "say", LINE, "--config", str(config), "--out", str(tmp_path / "line.wav"))
    assert done.returncode == 1 and "own.safetensors" in done.stderr and "Traceback" not in done.stderr
    assert own.stat().st_size == len(data) // 2
