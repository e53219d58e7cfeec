"""start.sh --with: packages installed once, on top of what is there. The requirement files are swapped for small ones
with wheels from a folder, so that pip, the environment and the program are the real ones and nothing needs a network."""
from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import zipfile
from pathlib import Path

import pytest

from cli.extras import extras
from models.families import REGISTRY, family
from tests.served import ROOT

FAMILIES = ("voxcpm", "pocket_tts", "supertonic", "qwen3_tts")


def wheel(folder: Path, name: str, files: dict[str, str]) -> None:
    info = f"{name}-1.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


class House:
    def __init__(self, root: Path):
        self.root, self.wheels = root / "house", root / "wheels"
        self.root.mkdir()
        self.wheels.mkdir()
        shutil.copy(ROOT / "start.sh", self.root)
        for name in ("app.py", "cli", "models", "server", "config.toml"):
            (self.root / name).symlink_to(ROOT / name)
        wheel(self.wheels, "rv_base", {"rv_base.pth": sysconfig.get_path("purelib")})  # this environment's packages
        (self.root / "requirements.txt").write_text("rv_base\n")
        for name in (*FAMILIES, "modelscope", "bench", "test"):
            wheel(self.wheels, f"rv_{name}", {f"rv_{name}.py": ""})
            (self.root / f"requirements-{name}.txt").write_text(f"rv_{name}\n")

    def start(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(["bash", str(self.root / "start.sh"), *arguments], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels),
                                   "PIP_EXTRA_INDEX_URL": "", "READYVOICE_MIRROR": "", "HF_ENDPOINT": "http://127.0.0.1:9"})

    def installed(self) -> set[str]:
        return {path.stem.removeprefix("rv_") for path in self.root.glob(".venv/lib/*/site-packages/rv_*.py")}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    return House(tmp_path_factory.mktemp("with"))


def test_installed_once_and_never_asked_for_again(house):
    first = house.start("fetch")
    assert first.returncode == 0, first.stderr
    assert "installing into" in first.stderr and house.installed() == set()
    second = house.start("fetch", "--with", "voxcpm,pocket_tts")
    assert second.returncode == 0 and "installing voxcpm pocket_tts into" in second.stderr
    assert house.installed() == {"voxcpm", "pocket_tts"}
    away = house.wheels.rename(house.wheels.with_name("away"))  # no network from here on
    for arguments in (["--with", "voxcpm,pocket_tts"], ["--with=pocket_tts"], ["--with", "voxcpm", "--with", "kokoro"], []):
        again = house.start("fetch", *arguments)
        assert again.returncode == 0 and "installing" not in again.stderr, again.stderr
    refused = house.start("fetch", "--with", "supertonic")
    assert refused.returncode == 1 and "connect this machine to the network" in refused.stderr
    assert house.start("fetch").returncode == 0  # what stands still serves
    away.rename(house.wheels)
    assert house.start("fetch", "--with", "supertonic").returncode == 0
    assert house.installed() == {"voxcpm", "pocket_tts", "supertonic"}
    named = house.start("fetch", "qwen3-tts-0.6b-base", "--mirror", "modelscope")  # its family and the mirror's client
    assert named.returncode == 1 and "could not be fetched" in named.stderr
    assert house.installed() == {*FAMILIES, "modelscope"}


def test_an_unknown_family_is_refused_before_anything_else(house):
    done = house.start("--with", "voxcpm,pocket")
    assert done.returncode == 1
    assert done.stderr == "[1/6] there is no family of models called pocket (did you mean pocket_tts?)\n"


def test_every_optional_family_has_its_requirements():
    assert set(extras(ROOT, "serve", ["--with", ",".join(REGISTRY)])) == set(FAMILIES)
    assert {name for name in REGISTRY if family(name).requires} == set(FAMILIES)


def test_a_checkpoint_brings_its_family():
    for name in REGISTRY:
        for one in family(name).published:
            assert extras(ROOT, "fetch", [one.name]) == ([name] if family(name).requires else [])
