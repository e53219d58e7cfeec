"""Two replicas on this machine behind one page: streams, a voice stays where its state is, and a killed replica takes
nothing with it but its own streams."""
from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import IncompleteRead

import httpx
import openai
import psutil
import pytest

from tests.served import Served, serve
from tests.waiting import until

LINE = "The harbour was quiet that morning."
BOOK = " ".join(f"Chapter {number} begins here, and it tells of the sea and of those who sail." for number in range(30))
VOICES = ("af_heart", "af_bella", "am_adam", "am_michael", "bf_emma", "bm_george", "af_nicole", "am_puck")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "config.toml").write_text('[[models]]\nid = "kokoro"\nfamily = "kokoro"\n')
    with serve(folder / "config.toml", ("--replicas", "2"), {"READYVOICE_VOICES": str(folder / "voices")},
               program=("-m", "deploy.cluster")) as served:
        yield served


def replicas(cluster: Served) -> list[psutil.Process]:
    """Ray's workers aren't children of the program that started it; they say what they are."""
    found = []
    for process in psutil.process_iter(["cmdline", "create_time"]):
        if any("ServeReplica" in part for part in process.info["cmdline"] or ()):
            if process.info["create_time"] >= psutil.Process(cluster.pid).create_time():
                found.append(process)
    return found


def figures(cluster: Served, voice: str, text: str = LINE) -> dict:
    chosen = uuid.uuid4().hex
    with cluster.post("api/stream", {"text": text, "voice": voice, "id": chosen}) as answer:
        assert len(answer.read()) > 20_000
    return cluster.get(f"api/requests/{chosen}")


def test_it_speaks_as_one_process_does(cluster, served):
    body = {"text": BOOK[:600], "model": "kokoro", "voice": "af_heart", "seed": 3}
    with cluster.post("api/stream", body) as answer:
        first = answer.read(4000)
        rest = answer.read()
    assert first + rest == served.post("api/stream", body).read()
    told = figures(cluster, "af_heart")
    assert told["state"] == "done" and 0 < told["ttfa"] < told["total"] and told["audio_seconds"] > 1


def test_openais_client_and_errors_too(cluster):
    with openai.OpenAI(base_url=cluster.url + "v1", api_key="none", max_retries=0) as client:
        assert client.audio.speech.create(model="kokoro", voice="af_heart", input=LINE).content[:3] in (b"ID3", b"\xff\xfb\x94", b"\xff\xf3\x84")
        with pytest.raises(openai.BadRequestError, match="nobody"):
            client.audio.speech.create(model="kokoro", voice="nobody", input=LINE)


def test_page_and_pool_are_those_of_one_machine(cluster):
    with httpx.Client(base_url=cluster.url) as client:
        assert "gradio" in client.get("").text
    until(lambda: cluster.get("api/pool")["replicas"] == 2, 30)
    pool = cluster.get("api/pool")
    assert pool["ready"] and pool["sessions"][0]["state"] == "ready" and pool["sessions"][0]["caches"]
    assert len(cluster.get("api/models")["models"][0]["voices"]) >= 5


def test_a_voice_goes_where_its_state_is_warm(cluster):
    rounds = [[figures(cluster, voice)["caches"]["style_cache"] for voice in VOICES] for _ in range(3)]
    assert rounds[1:] == [["hit"] * len(VOICES)] * 2


def test_a_closed_stream_is_cancelled_at_its_replica(cluster):
    chosen = uuid.uuid4().hex
    with cluster.post("api/stream", {"text": BOOK, "voice": "af_heart", "id": chosen}) as answer:
        answer.read(4000)
    until(lambda: cluster.get(f"api/requests/{chosen}")["state"] == "cancelled", 20)
    until(lambda: cluster.get("api/pool")["sessions"][0]["running"] == 0, 20)


def test_a_killed_replica_takes_only_its_own_streams_with_it(cluster):
    processes = replicas(cluster)
    assert len(processes) == 2

    def speak(voice: str) -> tuple[str, str]:
        chosen = uuid.uuid4().hex
        try:
            with cluster.post("api/stream", {"text": BOOK, "voice": voice, "id": chosen}) as answer:
                answer.read()
            return "whole", chosen
        except (IncompleteRead, ConnectionError, OSError):
            return "broken", chosen

    with ThreadPoolExecutor(len(VOICES)) as threads:
        asked = [threads.submit(speak, voice) for voice in VOICES]
        time.sleep(3)
        processes[0].kill()
        ended = [one.result() for one in asked]
    states = {kind: {cluster.get(f"api/requests/{chosen}")["state"] for how, chosen in ended if how == kind}
              for kind in ("whole", "broken")}
    assert states == {"whole": {"done"}, "broken": {"failed"}}
    assert figures(cluster, "af_heart")["state"] == "done"
    until(lambda: len(replicas(cluster)) == 2 and cluster.get("api/pool")["replicas"] == 2, 120)
    assert figures(cluster, "bf_emma")["state"] == "done"
