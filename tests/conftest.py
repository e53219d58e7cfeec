"""What all tests share."""
from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.served import Served, serve


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    """The product with its default fleet, started once for all tests that speak to it."""
    with serve() as running:
        yield running
