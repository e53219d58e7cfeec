"""What one user and one address may ask for."""
from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import openai
import pytest
from starlette.requests import HTTPConnection

from models.config import LimitsConfig
from models.errors import SpeechError
from server.limits import Limits, user_of
from server.network import network_of
from server.owner import COOKIE
from tests.served import Served, serve

BOOK = "Chapter one begins here, and it tells of the sea and of the people who sail upon it. " * 5


def caller(address: str = "203.0.113.7", browser: int | None = None, user: str = "") -> HTTPConnection:
    cookie = [(b"cookie", f"{COOKIE}={browser:032x}".encode())] if browser is not None else []
    return HTTPConnection({"type": "http", "headers": cookie, "client": (address, 1), "state": {"user": user}})


def limits(requests: int = 0, at_once: int = 0, characters: int = 0, users_per_address: int = 2) -> Limits:
    config = LimitsConfig(requests, at_once, characters, users_per_address)
    return Limits(lambda: config)


def refused(limits: Limits, who: HTTPConnection, characters: int = 10) -> str:
    with pytest.raises(SpeechError) as caught:
        limits.admit(who, characters)
    assert caught.value.status == 429
    return caught.value.code


def test_a_user_makes_so_many_requests_a_minute_and_others_go_on():
    guard = limits(requests=3)
    for _ in range(3):
        guard.admit(caller(browser=1), 10)
    assert refused(guard, caller(browser=1)) == "limit_requests"
    guard.admit(caller(browser=2), 10)
    guard.admit(caller(user="key:class"), 10)


def test_throwing_the_cookie_away_does_not_get_past_the_address():
    guard = limits(requests=3, users_per_address=2)
    for browser in range(6):
        guard.admit(caller(browser=browser), 10)
    assert refused(guard, caller(browser=99)) == "limit_requests"
    guard.admit(caller("198.51.100.1", browser=99), 10)


def test_characters_are_counted_and_a_refused_text_takes_none():
    guard = limits(characters=100)
    guard.admit(caller(browser=1), 70)
    assert refused(guard, caller(browser=1), 40) == "limit_characters"
    guard.admit(caller(browser=1), 30)


def test_what_is_at_work_counts_until_it_is_done():
    guard = limits(at_once=2)
    places = [guard.admit(caller(browser=1)) for _ in range(2)]
    assert refused(guard, caller(browser=1)) == "limit_at_once"
    places[0].leave()
    places[0].leave()
    guard.admit(caller(browser=1))
    assert refused(guard, caller(browser=1)) == "limit_at_once"


def test_the_wait_is_told():
    guard = limits(requests=1)
    guard.admit(caller(browser=1))
    with pytest.raises(SpeechError) as caught:
        guard.admit(caller(browser=1))
    assert 1 <= caught.value.params["retry"] <= 60 and str(caught.value.params["retry"]) in caught.value.sentence("zh")


def test_the_operator_has_none_and_without_limits_nobody_has():
    guard = limits(requests=1, at_once=1, characters=1)
    for _ in range(5):
        guard.admit(caller(user="operator"), 1000)
        Limits(lambda: None).admit(caller(), 1000)


@pytest.mark.parametrize(("one", "other", "same"), [
    ("2001:db8:1:2:3::1", "2001:db8:1:2:ffff::9", True), ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
    ("::ffff:203.0.113.7", "203.0.113.7", True), ("203.0.113.7", "203.0.113.8", False), ("x" * 9000, "y" * 9000, False),
])
def test_a_version_6_address_is_its_network(one, other, same):
    assert (network_of(caller(one)) == network_of(caller(other))) is same
    assert len(network_of(caller(one))) < 50


def test_who_a_user_is():
    assert user_of(caller(user="key:a")) == user_of(caller("198.51.100.1", user="key:a")) != user_of(caller(user="key:b"))
    assert user_of(caller(browser=1, user="login")) == user_of(caller("198.51.100.1", browser=1)) != user_of(caller(browser=2))
    assert user_of(caller(user="login")) == "203.0.113.7"


# -- the product


@pytest.fixture(scope="module")
def limited(tmp_path_factory) -> Iterator[Served]:
    config = tmp_path_factory.mktemp("limited") / "config.toml"
    config.write_text('[[models]]\nid = "joe"\nfamily = "vits"\n[limits]\nrequests = 8\nat_once = 2\ncharacters = 1500\n')
    with serve(config) as served:
        yield served


def asked_from(served: Served, address: str) -> httpx.Client:
    return httpx.Client(base_url=served.url, timeout=60, headers={"X-Forwarded-For": address})


def test_too_many_requests_are_told_when_to_come_back(limited):
    with asked_from(limited, "203.0.113.1") as client:
        answers = [client.post("api/stream", json={"text": "Yes."}) for _ in range(9)]
        assert [answer.status_code for answer in answers] == [200] * 8 + [429]
        assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
        assert "try again in" in answers[-1].json()["error"]["message"]
    with asked_from(limited, "203.0.113.2") as other:
        assert other.post("api/stream", json={"text": "Yes."}).status_code == 200


def test_openais_client_sees_a_rate_limit(limited):
    headers = {"X-Forwarded-For": "203.0.113.3"}
    with openai.OpenAI(base_url=limited.url + "v1", api_key="none", max_retries=0, default_headers=headers) as client:
        with pytest.raises(openai.RateLimitError, match="characters an hour") as caught:
            for _ in range(5):
                client.audio.speech.create(model="joe", voice="", input=BOOK[:400]).close()
        assert caught.value.body["param"] == "input"


def test_streams_that_were_closed_free_their_places(limited):
    with asked_from(limited, "203.0.113.4") as client:
        for _ in range(3):
            with client.stream("POST", "api/stream", json={"text": BOOK[:400]}) as stream:
                next(stream.iter_raw())


def test_no_more_than_so_many_at_once(limited):
    def speak(number: int) -> int:
        with asked_from(limited, "203.0.113.5") as client:
            return client.post("api/stream", json={"text": BOOK[:400]}).status_code

    with ThreadPoolExecutor(3) as threads:
        assert sorted(threads.map(speak, range(3))) == [200, 200, 429]


def test_a_refused_request_holds_no_place(limited):
    with asked_from(limited, "203.0.113.6") as client:
        for _ in range(4):
            assert client.post("api/stream", json={"text": "Yes.", "voice": "nobody"}).status_code == 404
        assert client.post("api/stream", json={"text": "Yes."}).status_code == 200


def test_a_dependency_gives_its_place_back():
    guard = limits(at_once=1)

    async def use() -> None:
        place = guard.counted(caller(browser=1))
        await anext(place)
        assert refused(guard, caller(browser=1)) == "limit_at_once"
        with pytest.raises(StopAsyncIteration):
            await anext(place)
        guard.admit(caller(browser=1)).leave()

    asyncio.run(use())
