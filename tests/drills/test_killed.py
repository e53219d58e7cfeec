"""kill -9 at any moment of a start, of speaking and of saving: the next start is a clean one."""
from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import httpx

from models.voices.library import Library
from models.weights import home
from tests.server.cloning import SPEECH, joes_voice
from tests.served import ROOT, free_port, serve

KILLS = 6
MADE = ("vits", "kokoro/v1.0/voices.safetensors")  # what a start makes when it is not there


def second_home(folder: Path) -> None:
    """This machine's cache without what is made from it."""
    for part in ("kokoro", "packages"):
        shutil.copytree(home() / part, folder / part, copy_function=os.link, symlinks=True, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns(".*.part") if part == "kokoro" else None)
    for name in MADE:
        path = folder / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def test_six_kills_and_then_a_clean_start(served, tmp_path):
    dice, voice = random.Random(4), joes_voice(served)
    second_home(tmp_path / "home")
    env = {"READYVOICE_HOME": str(tmp_path / "home"), "READYVOICE_VOICES": str(tmp_path / "voices")}
    reached = set()
    for number in range(KILLS):
        port = free_port()
        command = [sys.executable, str(ROOT / "app.py"), "serve", "--port", str(port), "--log-file", str(tmp_path / "log")]
        with subprocess.Popen(command, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            if number < KILLS // 2:
                time.sleep(dice.uniform(0.5, 8))
            else:
                reached.add(busy(f"http://127.0.0.1:{port}/", voice, number, dice))
            process.send_signal(signal.SIGKILL)
    assert reached == {"busy"}
    with serve(env=env) as again:
        for model in ("kokoro", "joe"):
            assert len(again.post("api/stream", {"text": "A clean start.", "model": model}).read()) > 20_000
        assert [session["restarts"] for session in again.get("api/pool")["sessions"]] == [0, 0]
        log = again.log.read_text()
        assert "Traceback" not in log and "ready:" in log
    for saved in Library(tmp_path / "voices").list(None):
        assert Library(tmp_path / "voices").clip(saved.id, None).seconds > 3
    reload = subprocess.run([sys.executable, str(ROOT / "app.py"), "reload", "--port", "6999"], env={**os.environ, **env},
                            capture_output=True, text=True)
    assert reload.returncode == 1 and "Traceback" not in reload.stderr  # none of the killed ones is taken for a server


def busy(url: str, voice: bytes, number: int, dice: random.Random) -> str:
    """Bring the server to the midst of a stream and of a voice being saved."""
    ends = time.monotonic() + 300
    while True:
        assert time.monotonic() < ends
        try:
            with urllib.request.urlopen(url + "readyz", timeout=5) as answer:
                if answer.status == 200:
                    break
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    with httpx.Client(base_url=url, timeout=60) as page:
        page.get("")
        clip = page.post("api/voices/clips", files={"file": ("a.flac", voice)}).json()["clip"]
        body = json.dumps({"text": "It was a long way to the sea. " * 40, "model": "kokoro"}).encode()
        stream = urllib.request.urlopen(urllib.request.Request(url + "api/stream", body), timeout=60)
        stream.read(1000)
        try:
            page.post("api/voices", json={"clip": clip, "name": f"Joe {number}", "who": "Joe", "consent": True, "language": "en",
                                          "transcript": SPEECH}, timeout=dice.uniform(0.001, 0.08))
        except httpx.TimeoutException:
            pass
    return "busy"
