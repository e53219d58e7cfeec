"""A server that others can reach: nothing opens without the password or a key."""
from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import httpx
import openai
import pytest

from tests.served import ROOT, Served, serve

PASSWORD = "open sesame, please"
PATHS = ["/api/pool", "/api/models", "/api/openapi.json", "/api/docs", "/api/requests/" + "0" * 32, "/metrics", "/v1/models",
         "/config", "/gradio_api/info", "/gradio_api/queue/data", "/gradio_api/file=/etc/passwd", "/theme.css",
         "/static/img/logo.svg", "/nowhere", "//api/pool", "/healthz/../api/pool", "/login/../api/pool"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory) -> Iterator[Served]:
    """joe alone, on every address of this machine."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "config.toml").write_text('[[models]]\nid = "joe"\nfamily = "vits"\n')
    (folder / "password").write_text(PASSWORD + "\n")
    with serve(folder / "config.toml", ("--host", "0.0.0.0", "--password-file", str(folder / "password"))) as served:
        yield served


@pytest.fixture
def client(guarded) -> Iterator[httpx.Client]:
    """A browser that has not logged in; each test comes from an address of its own, as told by a proxy here."""
    import secrets

    address = {"X-Forwarded-For": f"203.0.113.{secrets.randbelow(250)}:{secrets.token_hex(4)}"}
    with httpx.Client(base_url=guarded.url, timeout=60, headers=address) as client:
        yield client


def log_in(client: httpx.Client, password: str = PASSWORD) -> httpx.Response:
    return client.post("login", data={"password": password})


def keys(*arguments: str) -> str:
    return subprocess.run([sys.executable, str(ROOT / "app.py"), "keys", *arguments], check=True, capture_output=True,
                          text=True).stdout.strip()


@pytest.fixture
def key() -> Iterator[str]:
    import secrets

    name = f"test {secrets.token_hex(4)}"
    yield keys("add", name)
    if name in keys("list"):
        keys("revoke", name)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_nothing_is_told_before_the_login(client, guarded, path, method):
    answer = client.request(method, guarded.url.rstrip("/") + path)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "joe" not in answer.text


def test_health_is_open(client):
    assert client.get("healthz").status_code == client.get("readyz").status_code == 200


def test_the_page_asks_for_the_password_and_then_opens(client):
    page = client.get("", headers={"Accept-Language": "zh-CN"})
    assert page.status_code == 401 and 'type="password"' in page.text and "登录" in page.text
    answer = log_in(client)
    assert answer.status_code == 303 and answer.headers["Location"] == "./"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and PASSWORD not in cookie and "Secure" not in cookie
    assert "gradio" in client.get("").text
    spoken = client.post("api/stream", json={"text": "Hello there."})
    assert spoken.status_code == 200 and len(spoken.content) > 20_000


def test_over_tls_the_cookie_stays_on_tls(client):
    answer = client.post("login", data={"password": PASSWORD}, headers={"X-Forwarded-Proto": "https"})
    assert "Secure" in answer.headers["Set-Cookie"]


def test_a_link_with_the_password_logs_in_and_is_rid_of_it(client):
    answer = client.get("", params={"token": PASSWORD, "theme": "dark"})
    assert answer.status_code == 303 and answer.headers["Location"] == "./?theme=dark"
    assert client.get("api/models").status_code == 200


def test_a_logout_ends_it(client):
    log_in(client)
    ticket = client.cookies["readyvoice_login"]
    assert client.post("logout").status_code == 303
    assert client.get("api/models", headers={"Cookie": f"readyvoice_login={ticket}"}).status_code == 401


def test_wrong_passwords_are_held_back(client):
    answers = [log_in(client, f"guess {number}") for number in range(7)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 2
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert log_in(client).status_code == 429  # also the right one: else guessing would go on


def test_another_sites_form_does_not_log_in(client):
    answer = client.post("login", data={"password": PASSWORD}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 401 and "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("body", [b"", b"password=", b"\xff\xfe", b"password=" + b"x" * 100_000])
def test_any_other_form_is_no_login(client, body):
    answer = client.post("login", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert 400 <= answer.status_code < 500 and "Set-Cookie" not in answer.headers


def test_a_key_opens_the_api_until_it_is_revoked(guarded, key, client):
    allowed = {"Authorization": f"Bearer {key}"}
    assert client.get("api/models", headers=allowed).status_code == 200
    assert client.get("metrics", headers=allowed).status_code == 200
    with openai.OpenAI(base_url=guarded.url + "v1", api_key=key, max_retries=0) as official:
        assert "joe" in [model.id for model in official.models.list()]
        sound = official.audio.speech.create(model="joe", voice="", input="Hello.", response_format="wav").content
        assert sound[:4] == b"RIFF"
    name = next(line.split("\t")[0] for line in keys("list").splitlines() if line.startswith("test "))
    keys("revoke", name)
    assert client.get("api/models", headers=allowed).status_code == 401


def test_a_wrong_key_is_openais_authentication_error(guarded):
    with openai.OpenAI(base_url=guarded.url + "v1", api_key="rv-nothing", max_retries=0) as official:
        with pytest.raises(openai.AuthenticationError, match="log in first"):
            official.models.list()


def test_a_wrong_key_counts_even_beside_a_login(client):
    log_in(client)
    assert client.get("api/models", headers={"Authorization": "Bearer rv-nothing"}).status_code == 401


def test_answers_are_hardened(client):
    for path in ("", "api/models", "healthz"):
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
        assert "access-control-allow-origin" not in headers


def test_no_other_origin_is_let_in(client):
    log_in(client)
    asked = client.options("api/stream", headers={"Origin": "https://elsewhere.example",
                                                  "Access-Control-Request-Method": "POST"})
    assert "access-control-allow-origin" not in asked.headers
    answer = client.get("api/models", headers={"Origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in answer.headers


def test_a_password_made_at_the_start_is_shown_and_works(tmp_path):
    (tmp_path / "config.toml").write_text('[[models]]\nid = "joe"\nfamily = "vits"\n')
    with serve(tmp_path / "config.toml", ("--host", "0.0.0.0")) as served:
        line = next(line for line in served.log.read_text().splitlines() if "password for this start" in line)
        made = line.split("password for this start: ")[1].split(" ")[0]
        with httpx.Client(base_url=served.url, timeout=60) as client:
            assert client.get("api/models").status_code == 401
            assert log_in(client, made).status_code == 303
            assert client.get("api/models").status_code == 200


def test_an_image_of_another_page_tries_no_password(client):
    for _ in range(8):
        answer = client.get("", params={"token": "guess"}, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})
        assert answer.status_code == 401
    assert client.get("", params={"token": PASSWORD}, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
                      ).status_code == 303


def test_gradio_takes_no_files(client):
    log_in(client)
    answer = client.post("gradio_api/upload", files={"files": ("a.bin", b"x" * 5000)})
    assert answer.status_code == 404
