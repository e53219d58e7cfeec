"""Clients of the served product's OpenAI routes."""
from __future__ import annotations

from collections.abc import Iterator

import httpx
import openai
import pytest


@pytest.fixture(scope="module")
def client(served) -> Iterator[openai.OpenAI]:
    """OpenAI's own."""
    with openai.OpenAI(base_url=served.url + "v1", api_key="none", max_retries=0, timeout=120) as client:
        yield client


@pytest.fixture(scope="module")
def raw(served) -> Iterator[httpx.Client]:
    """For what that one can't ask for."""
    with httpx.Client(base_url=served.url, timeout=60) as client:
        yield client
