"""What all tests share."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.served import Served, serve

# the same examples every run: what is found by chance belongs in the tests as an example, not in somebody's red run
settings.register_profile("same", derandomize=True)
settings.load_profile("same")


# what listens to sound as it plays, or measures time or memory, wants the machine for itself
QUIET = ("tests/browser/", "tests/drills/test_crowd.py", "tests/models/test_gaps.py", "tests/models/test_memory.py",
         "tests/models/test_watchdog.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(QUIET):
            item.add_marker("quiet")


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Served]:
    """The product with its default fleet, started once for all tests that speak to it, without anybody's saved voices."""
    with serve(env={"READYVOICE_VOICES": str(tmp_path_factory.mktemp("voices"))}) as running:
        yield running
