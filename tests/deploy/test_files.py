"""Dockerfile, compose file, unit and scripts: clean by their own checkers, and true to the product."""
from __future__ import annotations

import configparser
import fnmatch
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile
import yaml

from app import parser
from tests.served import ROOT

DEPLOY = ROOT / "deploy"
TOOLS = Path(sys.executable).parent  # hadolint and shellcheck come with requirements-test.txt


def clean(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_is_clean():
    clean(TOOLS / "hadolint", DEPLOY / "Dockerfile")


def test_scripts_are_clean():
    clean(TOOLS / "shellcheck", "--severity", "warning", "--exclude", "SC2206", ROOT / "start.sh", DEPLOY / "cloud-image.sh")


def test_the_image_runs_as_somebody_and_says_when_it_is_ready():
    text = (DEPLOY / "Dockerfile").read_text()
    user = text.rindex("\nUSER 10001")
    assert user > text.rindex("\nCOPY") and "--uid 10001" in text
    assert re.search(r"HEALTHCHECK[^\n]*\\\n\s+CMD \[.*readyz", text) and 'VOLUME ["/data"]' in text
    assert 'ENTRYPOINT ["python", "app.py"]' in text and 'CMD ["serve", "--host", "0.0.0.0"]' in text


def test_what_the_image_holds_is_enough_to_speak(tmp_path):
    ignored = [line.strip() for line in (ROOT / ".dockerignore").read_text().splitlines() if line.strip()]
    tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout.splitlines()
    held = [name for name in tracked if (ROOT / name).is_file()
            and not any(name == rule or name.startswith(rule + "/") or fnmatch.fnmatch(name, rule) for rule in ignored)]
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in held)
    for name in held:
        target = tmp_path / "app" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    done = subprocess.run([sys.executable, "app.py", "say", "Hello.", "--model", "joe", "--out", str(tmp_path / "a.wav")],
                          cwd=tmp_path / "app", capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert soundfile.info(tmp_path / "a.wav").duration > 0.3


def test_compose_fits_the_image():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for service in compose["services"].values():
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
        assert service["ports"] == ["6006:6006"] and "EXPOSE 6006" in (DEPLOY / "Dockerfile").read_text()
        assert service["volumes"] == ["readyvoice:/data"] and "readyvoice" in compose["volumes"]
        assert "READYVOICE_PASSWORD" in service["environment"]
        assert int(service["stop_grace_period"].removesuffix("s")) > 10  # streams have ten seconds to end
    gpu = compose["services"]["readyvoice-gpu"]["deploy"]["resources"]["reservations"]["devices"]
    assert gpu[0]["capabilities"] == ["gpu"] and compose["services"]["readyvoice-gpu"]["profiles"] == ["gpu"]


def unit() -> configparser.ConfigParser:
    found = configparser.ConfigParser(strict=False, interpolation=None)
    found.optionxform = str
    found.read(DEPLOY / "systemd/readyvoice.service")
    return found


def served(words: list[str]) -> None:
    """The arguments behind start.sh are ones that serve takes."""
    options = parser().parse_args(["serve", *words])
    assert options.host == "0.0.0.0" and str(options.password_file) == "/etc/readyvoice/password"


def test_the_unit_starts_what_there_is():
    service = unit()["Service"]
    words = shlex.split(service["ExecStart"])
    assert words[:2] == ["/bin/bash", "/opt/readyvoice/start.sh"]
    served(words[2:])
    assert service["User"] == "readyvoice" and int(service["TimeoutStopSec"]) > 10
    assert service["Environment"] == "READYVOICE_HOME=/var/lib/readyvoice" and service["StateDirectory"] == "readyvoice"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here to ask")
def test_the_unit_is_valid():
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(DEPLOY / "systemd/readyvoice.service")],
                          capture_output=True, text=True)
    wrong = [line for line in done.stderr.splitlines() if "readyvoice.service:" in line and "is not executable" not in line]
    assert not wrong


def test_the_cloud_image_uses_the_units_places():
    script = (DEPLOY / "cloud-image.sh").read_text()
    service = unit()["Service"]
    for place in ("/opt/readyvoice", "/var/lib/readyvoice", "/etc/readyvoice/password"):
        assert place in script and place in " ".join(service.values())
    line = next(line for line in script.splitlines() if line.startswith("@reboot"))
    served(shlex.split(line.split("start.sh ")[1].split(" --log-file")[0].replace("$SECRET", "/etc/readyvoice/password")))


def test_the_cloud_image_refuses_what_it_does_not_know():
    done = subprocess.run(["bash", str(DEPLOY / "cloud-image.sh"), "--fast"], capture_output=True, text=True)
    assert done.returncode == 1 and "no option --fast" in done.stderr
