"""What all tests share."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.served import Served, serve

# the same examples every run: what is found by chance belongs in the tests as an example, not in somebody's red run
settings.register_profile("same", derandomize=True)
settings.load_profile("same")


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Served]:
    """The product with its default fleet, started once for all tests that speak to it, without anybody's saved voices."""
    with serve(env={"READYVOICE_VOICES": str(tmp_path_factory.mktemp("voices"))}) as running:
        yield running
