"""A real nginx with our configuration in front of the product: TLS, a password, a sub-path, streams not held up."""
from __future__ import annotations

import re
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.recordings import pcm_file, tone
from tests.served import ROOT, free_port
from tests.waiting import until

NGINX = next((path for path in ("/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx") if Path(path).is_file()), None)
pytestmark = pytest.mark.skipif(NGINX is None, reason="there is no nginx here: apt install nginx")
BOOK = " ".join(f"On day {number} the ship sailed along the coast, and in the evening the crew sang." for number in range(40))


@pytest.fixture(scope="module")
def front(served, tmp_path_factory) -> Iterator[str]:
    """The page's address through nginx, below /voice/."""
    folder = tmp_path_factory.mktemp("nginx")
    port = free_port()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key", "-out", folder / "crt"],
                   check=True, capture_output=True)
    secret = subprocess.run(["openssl", "passwd", "-6", "open sesame"], check=True, capture_output=True, text=True).stdout
    (folder / "htpasswd").write_text(f"anna:{secret}")
    site = (ROOT / "deploy/nginx/readyvoice.conf").read_text()
    for ours, here in (("127.0.0.1:6006", re.search(r"//(.*?)/", served.url)[1]), ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
                       ("/etc/ssl/readyvoice.crt", folder / "crt"), ("/etc/ssl/readyvoice.key", folder / "key"),
                       ("/etc/nginx/readyvoice.htpasswd", folder / "htpasswd")):
        assert ours in site
        site = site.replace(ours, str(here))
    (folder / "site.conf").write_text(site)
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;"
        f"events {{}} http {{ access_log off; {temporary} include {folder}/site.conf; }}")
    command = [NGINX, "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"https://127.0.0.1:{port}/voice/"
    trust.load_verify_locations(folder / "crt")

    def up() -> bool:
        try:
            return httpx.get(url + "readyz", verify=trust).status_code == 200
        except httpx.HTTPError:
            return False

    try:
        until(up, 20)
        yield url
    finally:
        process.terminate()
        process.wait(10)


trust = ssl.create_default_context()


@pytest.fixture
def client(front) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=front, verify=trust, auth=("anna", "open sesame"), timeout=120) as client:
        yield client


def test_health_needs_no_password_and_all_else_does(front):
    with httpx.Client(base_url=front, verify=trust) as stranger:
        assert stranger.get("readyz").status_code == 200
        for path in ("", "api/models", "v1/models", "metrics", "config", "gradio_api/info", "healthz"):
            assert stranger.get(path).status_code == 401
        assert stranger.post("api/stream", json={"text": "Hello."}).status_code == 401


def test_the_address_without_its_slash_leads_to_the_page(client, front):
    answer = client.get(front.rstrip("/"))
    assert answer.status_code == 301 and answer.headers["location"].endswith("/voice/")
    page = client.get("")
    assert page.status_code == 200 and "gradio" in page.text
    for found in re.findall(r'(?:src|href)="(\./[^"]+)"', page.text)[:10]:
        assert client.get(found.removeprefix("./")).status_code == 200, found


def test_sound_passes_as_it_is_made(client):
    with client.stream("POST", "api/stream", json={"text": BOOK, "model": "joe", "seed": 1}) as answer:
        began, first = time.monotonic(), None
        pieces = 0
        for piece in answer.iter_raw():
            first = first or time.monotonic() - began
            pieces += 1
        whole = time.monotonic() - began
    assert pieces > 20 and first < whole / 4
    assert answer.headers["X-Sample-Rate"] == "22050" and "content-encoding" not in answer.headers


def test_a_request_is_ended_when_its_reader_leaves(client, served):
    with client.stream("POST", "api/stream", json={"text": BOOK, "model": "joe"}) as answer:
        next(answer.iter_raw())
    until(served.idle, 30)


def test_uploads_pass(client):
    clip = pcm_file(tone(60.0, 48_000), 48_000)  # a tone: as large as a clip may be, and nothing to hear in it
    assert len(clip) > 5_000_000
    answer = client.post("v1/audio/transcriptions", files={"file": ("clip.wav", clip)}, data={"model": "whisper-base"})
    assert answer.status_code != 413 and answer.headers["content-type"].startswith("application/json")


def test_what_is_too_large_is_refused_with_our_sentence(client):
    assert client.post("api/stream", content=b"x" * (26 << 20)).status_code == 413
    clip = client.post("v1/audio/transcriptions", files={"file": ("clip.wav", bytes(26 << 20))})
    assert clip.status_code == 413 and "20 MB" in clip.json()["error"]["message"]
    client.get("")  # for the cookie that says whose voices they are
    for size, reason in ((40 << 20, "no sound zip"), (66 << 20, "larger than 64 MB")):
        voice = client.post("api/voices/import", files={"file": ("voice.zip", bytes(size))})
        assert voice.status_code == 422 and reason in voice.json()["error"]["message"], voice.text


def test_gradios_own_events_pass_unbuffered(client):
    """The heartbeat is an endless stream of server-sent events: its first one has to come at once."""
    with client.stream("GET", "gradio_api/heartbeat/nginx") as answer:
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")
        assert next(answer.iter_lines()) != ""
