"""Whose sound carries the mark, as the configuration says."""
from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient

from models.audio.decode import decode
from models.audio.watermark import CERTAIN, score
from server.front import full_app
from tests.models.fleets import config_of, entry, running

TEXT = "The harbour was quiet that morning, and only a few boats lay between the stones."


@pytest.mark.parametrize(("setting", "found"), [("all", True), ("cloned", False), ("off", False)])
def test_a_stock_voice_is_marked_only_if_all_are(tmp_path, setting, found):
    with running(config_of(tmp_path, f'[server]\nwatermark = "{setting}"\n' + entry("joe"))) as pool:
        with TestClient(full_app(pool)) as client:
            answer = client.post("/api/stream", json={"text": TEXT, "seed": 1})
            sound = np.frombuffer(answer.content, "<i2").astype(np.float32) / 32768
            assert (score(sound, int(answer.headers["x-sample-rate"])) > CERTAIN) is found
            file = decode(client.post("/v1/audio/speech", json={"model": "joe", "input": TEXT, "voice": "", "seed": 1}).content)
            assert (score(file.samples, file.sample_rate) > CERTAIN) is found
