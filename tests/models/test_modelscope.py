from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest

from models import modelscope
from models.errors import SpeechError
from models.hub import hub_folder
from tests.hubs import running
from tests.served import ROOT

FILES = {"config.json": b"{}", "weights.bin": bytes(range(256)) * 12_000, "sub/more.bin": b"m" * 1000, "README.md": b"#"}
PATTERNS = ["config.json", "*.bin", "sub/*"]


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("READYVOICE_MIRROR", "modelscope")
    with running({"OpenBMB/VoxCPM1.5": FILES}) as server:
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", server.address)
        yield server


def fetch(repo="openbmb/VoxCPM1.5", lines=None):
    return hub_folder(repo, None, PATTERNS, "room", "voxcpm-1.5", (lines if lines is not None else []).append)


def test_the_same_folder_as_from_the_hub(mirror, capfd):
    lines: list[str] = []
    folder = fetch(lines=lines)
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} >= {
        "config.json", "weights.bin", "sub/more.bin"}
    assert all((folder / name).read_bytes() == data for name, data in FILES.items() if name != "README.md")
    assert not (folder / "README.md").exists()
    assert any(line.startswith("100 %") for line in lines) and len(lines) > 3
    mirror.shutdown()
    mirror.server_close()
    assert fetch() == folder
    assert capfd.readouterr() == ("", "")


def test_an_ended_process_leaves_what_the_next_one_goes_on_with(mirror, tmp_path):
    content = bytes(range(256)) * 100_000
    mirror.repositories["OpenBMB/VoxCPM1.5"] = {"weights.bin": content}
    mirror.stalls_after = 20_000_000
    script = f"from models.hub import hub_folder; hub_folder('openbmb/VoxCPM1.5', None, {PATTERNS}, 'room', 'm', print)"
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        assert mirror.stalled.wait(60)
        ends = time.monotonic() + 30
        while sum(file.stat().st_size for file in (tmp_path / "home" / "room").rglob("*") if file.is_file()) < 15_000_000:
            assert time.monotonic() < ends
            time.sleep(0.05)
        process.kill()
    mirror.stalls_after = None
    mirror.go_on.set()
    assert (fetch() / "weights.bin").read_bytes() == content
    again = [int(line.split("bytes=")[1].split("-")[0]) for line in mirror.asked if "bytes=" in line]
    assert max(again, default=0) >= 15_000_000


def test_a_repository_it_does_not_have(mirror):
    with pytest.raises(SpeechError, match="has no repository kyutai/pocket-tts.*without the mirror"):
        fetch("kyutai/pocket-tts")


def test_a_repository_that_asks_for_a_login(mirror):
    mirror.private = {"OpenBMB/VoxCPM1.5"}
    with pytest.raises(SpeechError, match="asks for a login.*MODELSCOPE_API_TOKEN"):
        fetch()


def test_no_answer_fails_within_seconds(mirror, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")
        began = time.monotonic()
        with pytest.raises(SpeechError, match="ModelScope does not answer"):
            fetch()
        assert time.monotonic() - began < 20


def test_without_its_client(mirror, monkeypatch):
    monkeypatch.setitem(sys.modules, "modelscope_hub", None)
    with pytest.raises(SpeechError, match="client is not installed.*READYVOICE_MIRROR=modelscope bash start.sh"):
        modelscope.download("openbmb/VoxCPM1.5", PATTERNS, ROOT / "nowhere", "m", print)
