from __future__ import annotations

import pytest

from models.budget import HOST, Budget, Need, need_of, parse_budget, spoken_size
from models.errors import SpeechError
from models.memory import free_bytes, resident_bytes
from tests.models.fleets import config_of, entry, spec_of

MB = 2**20


@pytest.mark.parametrize(("given", "size"), [
    ("auto", None), ("4GB", 4096 * MB), ("4 GiB", 4096 * MB), ("1.5 gb", 1536 * MB), ("800 MB", 800 * MB),
    (2048, 2048 * MB), ("2048", 2048 * MB)])
def test_amounts_of_memory(given, size):
    assert parse_budget(given) == size


@pytest.mark.parametrize("given", ["much", "", "4 TB", "-1", 0, True, None, "GB", [1], -5])
def test_what_is_no_amount_is_refused_by_the_configuration(tmp_path, given):
    with pytest.raises(ValueError, match="amount"):
        parse_budget(given)
    if isinstance(given, (str, int)):
        text = f"[server]\nmemory_budget = {str(given).lower() if isinstance(given, int) else repr(given)}\n"
        with pytest.raises(SpeechError, match="memory_budget must be"):
            config_of(tmp_path, text + entry("joe"))


def test_sizes_for_people():
    assert (spoken_size(350 * MB), spoken_size(1229 * MB), spoken_size(-1)) == ("350 MB", "1.2 GB", "0 MB")


def test_the_ledger_adds_up():
    budget = Budget(resident_bytes() + 1000 * MB)
    one = Need({HOST: 300 * MB}, 0, {"torch": (HOST, 400 * MB)})
    assert budget.missing(one) == {HOST: 700 * MB} and budget.take("a", one)
    assert budget.missing(one) == {HOST: 300 * MB}  # what they share counts once
    assert budget.short(one) == {HOST: pytest.approx(0, abs=50 * MB)} or budget.short(one) == {}
    assert not budget.take("b", Need({HOST: 400 * MB})) and "b" not in budget
    assert budget.take("b", Need({HOST: 200 * MB})) and budget.take("b", Need({HOST: 900 * MB}))  # it has it already
    assert not budget.take("c", Need({HOST: 200 * MB}))
    budget.give("b")
    assert budget.held("b") == {} and budget.take("c", Need({HOST: 200 * MB}))
    budget.give("a")
    assert budget.room() == pytest.approx(400 * MB, abs=50 * MB)  # c, and the libraries, which stay


def test_reality_overrules_the_ledger():
    budget = Budget(resident_bytes() + 200 * MB)
    assert budget.room() > 150 * MB
    ballast = bytearray(b"x") * (150 * MB)
    assert budget.room() < 100 * MB
    del ballast


def test_nobody_may_take_more_than_there_is():
    for budget in (Budget(), Budget(2**60), Budget(None, 1 * MB)):
        assert 0 < budget.room() < free_bytes() + 100 * MB
        assert not budget.take("a", Need({HOST: free_bytes()}))


def test_what_a_session_keeps_when_it_goes_is_told_apart():
    need = need_of(spec_of("joe"))
    assert need.own[HOST] > 100 * MB and need.shared["vits"][1] > 10 * MB
    assert need.total == need.own[HOST] + need.shared["vits"][1]


def test_weights_that_can_not_be_read_are_left_to_the_loading(tmp_path):
    assert need_of(spec_of("joe", path=tmp_path / "none")).total >= 0


def test_what_only_loading_takes_is_free_again_afterwards():
    budget = Budget(resident_bytes() + 1000 * MB)
    assert not budget.take("a", Need({HOST: 500 * MB}, 600 * MB))
    assert budget.take("a", Need({HOST: 200 * MB}, 600 * MB)) and budget.room() < 250 * MB
    budget.loaded("a")
    assert budget.room() > 700 * MB and budget.held("a") == {HOST: 200 * MB}
