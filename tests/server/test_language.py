from __future__ import annotations

import pytest

from server.language import preferred


@pytest.mark.parametrize(("header", "language"), [
    ("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("en-GB,en;q=0.9,zh;q=0.1", "en"), ("fr,zh;q=0.5,en;q=0.4", "zh"),
    ("de", "en"), ("", "en"), (None, "en"), ("zh;q=0, en;q=0.2", "en"), (";;;q=,,zh;q=x", "en"), ("ZH-hant", "zh"),
])
def test_the_best_language_we_have(header, language):
    assert preferred(header) == language
