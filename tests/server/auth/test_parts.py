"""Tickets, keys, attempts and where a password comes from."""
from __future__ import annotations

import json
import stat
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import SpeechError
from server.auth.attempts import ADDRESSES, ALL, FREE, LONGEST_WAIT, Attempts
from server.auth.keys import KeyRing
from server.auth.password import loopback, password_for
from server.auth.secret import operator_key, secret
from server.auth.tickets import LASTS, RENEWED, Tickets


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("READYVOICE_PASSWORD", raising=False)
    return tmp_path / "home"


# -- the secret


def test_the_secret_is_made_once_and_only_the_operator_reads_it(own_home):
    with ThreadPoolExecutor(16) as many:
        made = set(many.map(lambda _: secret(), range(64)))
    assert len(made) == 1 and len(made.pop()) == 32
    assert stat.S_IMODE((own_home / "secret").stat().st_mode) == 0o600
    assert not [path.name for path in own_home.iterdir() if path.name not in ("secret", ".secret.lock")]


def test_a_broken_secret_is_made_anew(own_home):
    before = secret()
    (own_home / "secret").write_bytes(before[:7])
    assert len(secret()) == 32 and secret() != before
    assert operator_key() == operator_key()


# -- tickets


def test_a_ticket_is_good_until_it_ends():
    tickets, now = Tickets("correct horse"), time.time()
    ticket = tickets.issue(now)
    assert tickets.good(ticket, now) and tickets.good(ticket, now + LASTS - 2)
    assert not tickets.good(ticket, now + LASTS + 1)
    assert not tickets.old(ticket, now + RENEWED - 5) and tickets.old(ticket, now + RENEWED + 5)


def test_a_restart_keeps_tickets_and_another_password_ends_them():
    ticket = Tickets("correct horse").issue()
    assert Tickets("correct horse").good(ticket)
    assert not Tickets("battery staple").good(ticket)


def test_a_logout_ends_that_ticket_alone():
    tickets = Tickets("correct horse")
    mine, other = tickets.issue(), tickets.issue()
    tickets.end(mine)
    assert not tickets.good(mine) and tickets.good(other)


@given(at=st.integers(0, 10_000), put=st.characters(), other=st.text(max_size=200))
def test_nothing_but_what_we_signed_is_good(at, put, other):
    tickets = Tickets("correct horse")
    ticket = tickets.issue()
    at %= len(ticket)
    changed = ticket[:at] + put + ticket[at + 1:]
    assert tickets.good(changed) is (changed == ticket)
    assert not tickets.good(other)


# -- keys


def test_a_key_is_shown_once_and_kept_as_a_digest(own_home):
    ring = KeyRing()
    key = ring.add("class 7b")
    kept = (own_home / "keys.json").read_text()
    assert key.startswith("rv-") and len(key) > 40 and key not in kept
    assert stat.S_IMODE((own_home / "keys.json").stat().st_mode) == 0o600
    assert ring.holder(key) == "class 7b"
    assert ring.holder(key[:-1]) is ring.holder("") is ring.holder("\udcff") is None


def test_another_process_sees_keys_come_and_go():
    server, command = KeyRing(), KeyRing()
    assert server.all() == ()
    key = command.add("robot")
    assert server.holder(key) == "robot"
    command.revoke("robot")
    assert server.holder(key) is None


def test_names_are_unique_and_plain():
    ring = KeyRing()
    ring.add("robot")
    for name, code in (("robot", "key_taken"), ("", "field_invalid"), ("a/b", "field_invalid"), ("x" * 61, "field_invalid")):
        with pytest.raises(SpeechError) as caught:
            ring.add(name)
        assert caught.value.code == code
    with pytest.raises(SpeechError) as caught:
        ring.revoke("nobody")
    assert caught.value.code == "key_unknown"


@pytest.mark.parametrize("broken", ["", "{", "[1]", '[{"name": "x"}]', json.dumps({"name": "x"})])
def test_a_broken_file_opens_nothing(own_home, broken):
    ring = KeyRing()
    key = ring.add("robot")
    (own_home / "keys.json").write_text(broken)
    assert ring.holder(key) is None


# -- attempts


def test_a_few_wrong_ones_are_free_then_each_costs_more():
    attempts = Attempts()
    for _ in range(FREE):
        assert attempts.wait("a", 0) == 0
        attempts.failed("a", 0)
    waits = []
    for _ in range(12):
        waits.append(attempts.wait("a", 0))
        attempts.failed("a", 0)
    assert waits == sorted(waits) and waits[0] == 4 and waits[1] == 8 and waits[-1] == LONGEST_WAIT
    assert attempts.wait("a", LONGEST_WAIT + 1) == 0
    assert attempts.wait("b", 0) == 0
    attempts.succeeded("a")
    assert attempts.wait("a", 0) == 0


def test_many_addresses_together_are_held_back():
    attempts = Attempts()
    for number in range(ALL):
        attempts.failed(f"10.0.0.{number}", 0)
    assert attempts.wait("fresh", 1) > 0 and attempts.wait("fresh", 61) == 0


def test_it_does_not_grow_without_end():
    attempts = Attempts()
    for number in range(ADDRESSES + 50):
        attempts.failed(str(number), 1000.0 * number)
    assert len(attempts._wrong) == ADDRESSES


# -- the password


@pytest.mark.parametrize(("host", "near"), [
    ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True),
    ("0.0.0.0", False), ("::", False), ("192.168.1.4", False), ("example.org", False), ("", False),
])
def test_what_only_this_machine_can_reach(host, near):
    assert loopback(host) is near
    assert (password_for(host, None) is None) is near


def test_one_is_made_anew_for_others_to_reach():
    first, second = password_for("0.0.0.0", None), password_for("0.0.0.0", None)
    assert first.made and len(first.text) >= 20 and first.text != second.text


def test_a_file_comes_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_PASSWORD", "from the environment")
    file = tmp_path / "password"
    file.write_text("from the file\n")
    assert password_for("127.0.0.1", None).text == "from the environment"
    assert password_for("0.0.0.0", file).text == "from the file" and not password_for("0.0.0.0", file).made


@pytest.mark.parametrize("text", ["", "  \n", "short"])
def test_one_that_anybody_could_guess_is_refused(tmp_path, text):
    file = tmp_path / "password"
    file.write_text(text)
    with pytest.raises(SpeechError) as caught:
        password_for("0.0.0.0", file)
    assert caught.value.code == "password_short" and str(file) in caught.value.sentence()


def test_an_old_bookmark_that_fails_for_weeks_breaks_nothing():
    attempts = Attempts()
    for number in range(2000):
        attempts.failed("a", 1000.0 * number)
    assert attempts.wait("a", 1000.0 * 1999) == LONGEST_WAIT
