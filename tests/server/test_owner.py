"""Whose request it is: the cookie, and nothing that another page can do with it."""
from __future__ import annotations

import re

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from starlette.requests import HTTPConnection

from models.errors import SpeechError
from server.errors import speech_error_handler
from server.owner import COOKIE, NOBODY, Owners, known_owner, owner_of

VALUE = "0123456789abcdef" * 2


@pytest.fixture
def app() -> FastAPI:
    app = FastAPI()
    app.add_middleware(Owners)
    app.add_exception_handler(SpeechError, speech_error_handler)

    @app.get("/")
    def page():
        return "the page"

    @app.get("/who")
    def who(request: Request):
        return owner_of(request)

    @app.post("/change")
    def change(request: Request):
        return known_owner(request)

    return app


def asked(app: FastAPI, value: str = VALUE, **headers: str) -> str:
    """Whose GET it is."""
    return TestClient(app, cookies={COOKIE: value}).get("/who", headers={
        name.replace("_", "-"): text for name, text in headers.items()}).json()


def test_the_first_visit_gives_a_cookie_that_scripts_and_other_sites_do_not_get(app):
    given = [TestClient(app).get("/").headers["set-cookie"] for _ in range(2)]
    assert given[0] != given[1]
    for line in given:
        assert re.match(rf"{COOKIE}=[0-9a-f]{{32}};", line)
        attributes = {part.strip().lower() for part in line.split(";")[1:]}
        assert {"httponly", "samesite=lax", "path=/", f"max-age={400 * 24 * 3600}"} == attributes
    answer = TestClient(app).get("/")
    assert "private" in answer.headers["cache-control"]


@pytest.mark.parametrize(("url", "headers"), [("https://testserver", {}), ("http://testserver", {"x-forwarded-proto": "https"})])
def test_under_https_it_is_secure(app, url, headers):
    assert "; Secure" in TestClient(app, base_url=url).get("/", headers=headers).headers["set-cookie"]


def test_it_stays_the_same_and_makes_an_owner(app):
    client = TestClient(app)
    client.get("/")
    value, owner = client.cookies[COOKIE], client.get("/who").json()
    client.get("/")
    assert client.cookies[COOKIE] == value and client.get("/who").json() == owner
    assert owner.startswith("browser-") and value not in owner
    other = TestClient(app)
    other.get("/")
    assert other.get("/who").json() not in (owner, NOBODY)


@pytest.mark.parametrize("value", ["", "operator", "nobody", VALUE[:-1], VALUE + "0", VALUE.upper(), "g" * 32, f"{VALUE}\u0660"])
def test_what_is_no_cookie_of_ours_is_nobody(app, value):
    client = TestClient(app)
    assert client.get("/who", headers={"cookie": f"{COOKIE}={value}".encode()}).json() == NOBODY
    again = client.get("/", headers={"cookie": f"{COOKIE}={value}".encode()}).headers["set-cookie"]
    assert not again.startswith(f"{COOKIE}={value};")


@pytest.mark.parametrize("headers", [
    {"owner": VALUE}, {"x-owner": VALUE}, {"authorization": f"Bearer {VALUE}"}, {"x-forwarded-user": VALUE}])
def test_an_owner_comes_from_nowhere_else(app, headers):
    assert TestClient(app).get(f"/who?{COOKIE}={VALUE}&owner={VALUE}", headers=headers).json() == NOBODY


OURS = [{}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}, {"origin": "http://testserver"},
        {"origin": "https://speech.example.org", "x-forwarded-host": "speech.example.org"},
        {"sec-fetch-site": "same-origin", "origin": "https://behind-a-proxy.example.org"}]
THEIRS = [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "http://evil.example.org"},
          {"origin": "null"}, {"origin": "http://testserver:8888"}, {"origin": "http://testserver.evil.example.org"},
          {"sec-fetch-site": "cross-site", "origin": "http://testserver"}, {"origin": ""}]


@pytest.mark.parametrize("headers", OURS)
def test_our_own_page_and_programs_may_change_things(app, headers):
    client = TestClient(app, cookies={COOKIE: VALUE})
    assert client.post("/change", headers=headers).json() == client.get("/who").json() != NOBODY


@pytest.mark.parametrize("headers", THEIRS)
def test_another_origins_page_may_not(app, headers):
    client = TestClient(app, cookies={COOKIE: VALUE})
    answer = client.post("/change", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "cross_site")
    assert client.get("/who", headers=headers).json() == NOBODY


def test_without_a_cookie_nothing_can_be_changed(app):
    answer = TestClient(app).post("/change", headers={"accept-language": "zh"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "owner_missing")
    assert "Cookie" in answer.json()["error"]["message"]


def connection(address: str = "127.0.0.1", user: str = "", **headers: str) -> HTTPConnection:
    raw = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return HTTPConnection({"type": "http", "headers": raw, "client": (address, 1), "state": {"user": user}})


def test_a_key_owns_what_its_programs_make_whatever_cookie_they_bring():
    mine = owner_of(connection("203.0.113.7", user="key:class"))
    assert mine.startswith("key-") and mine == owner_of(connection(user="key:class", cookie=f"{COOKIE}={VALUE}"))
    assert mine != owner_of(connection(user="key:other")) and owner_of(connection(user="operator")) == "operator"


def test_a_program_on_this_machine_owns_voices_where_nobody_logs_in():
    assert owner_of(connection()) == owner_of(connection("::1")) == "local"
    assert owner_of(connection("203.0.113.7")) == owner_of(connection(user="login")) == NOBODY


@pytest.mark.parametrize("headers", [
    {"origin": "http://127.0.0.1:6006"}, {"referer": "http://127.0.0.1:6006/"}, {"sec_fetch_site": "same-origin"},
    {"cookie": "other=1"}, {"x_forwarded_for": "203.0.113.7"}, {"x_real_ip": "203.0.113.7"}, {"via": "1.1 proxy"},
])
def test_a_browser_without_our_cookie_and_whoever_comes_through_a_proxy_is_no_program_of_this_machines(headers):
    assert owner_of(connection(**headers)) == NOBODY
