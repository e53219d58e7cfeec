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
QUIET = ("tests/browser/test_hearing.py", "tests/browser/test_trouble.py", "tests/drills/test_crowd.py", "tests/models/test_gaps.py",
         "tests/models/test_memory.py", "tests/models/test_pool.py", "tests/models/test_reload.py",
         "tests/models/test_watchdog.py", "tests/server/test_start.py")
# minutes of work each on two cores
LONG = ("tests/benchmarks/test_families.py", "tests/cli/test_clone.py", "tests/cli/test_with.py", "tests/drills/test_crowd.py",
        "tests/deploy/test_cluster.py", "tests/drills/test_damage.py", "tests/drills/test_killed.py",
        "tests/models/voices/test_fit.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--short", action="store_true", help="leave out the drills, whole fits and what else takes minutes")
    parser.addoption("--part", choices=("alone", "beside"), help="only what wants the machine for itself, or only the rest")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = config.getoption("--part")

    def wanted(item: pytest.Item) -> bool:
        return (not (config.getoption("--short") and item.nodeid.startswith(LONG))
                and (not part or item.nodeid.startswith(QUIET) == (part == "alone")))

    left = [item for item in items if not wanted(item)]
    items[:] = [item for item in items if wanted(item)]
    config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Served]:
    """The product with its default fleet, started once for all tests that speak to it, without anybody's saved voices."""
    with serve(env={"READYVOICE_VOICES": str(tmp_path_factory.mktemp("voices"))}) as running:
        yield running
