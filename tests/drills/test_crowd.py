"""Sixty-four clients for two minutes, most of whom hang up somewhere: each hears its own text, and nothing is left behind."""
from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field

import httpx
import numpy as np
import psutil

from tests.listening import transcribe, word_error_rate
from tests.waiting import until

CLIENTS, SECONDS = 64, 120.0
SAMPLED = 12  # whole answers that are listened to
GROWTH = 120e6  # bytes
SUBJECTS = ("The fisherman", "My sister", "A gardener", "The doctor", "Our neighbour", "The teacher", "A sailor", "The baker")
DEEDS = ("bought a red bicycle", "lost an old umbrella", "painted the kitchen door", "found a silver coin", "wrote a long letter",
         "planted three apple trees", "repaired the wooden bridge", "heard a strange noise")
TEXTS = [f"{who} {what} on a cold morning in November." for who in SUBJECTS for what in DEEDS]
LONG = " ".join(TEXTS)


@dataclass
class Heard:
    whole: dict[int, list[bytes]] = field(default_factory=dict)  # by client
    hung_up: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


async def client(number: int, http: httpx.AsyncClient, ends: float, heard: Heard) -> None:
    dice = random.Random(number)
    while time.monotonic() < ends:
        stays = dice.random() < 0.4
        body = {"text": TEXTS[number] if stays else LONG, "model": "joe" if number % 2 else "kokoro", "seed": 1, "language": "en"}
        patience, pieces = dice.choice([0, 1, 2, 8]), []
        try:
            async with http.stream("POST", "api/stream", json=body, timeout=dice.choice([0.05, 1.0]) if not stays and not patience
                                   else 300) as answer:
                if answer.status_code == 503:
                    heard.refused += 1
                elif answer.status_code != 200:
                    heard.wrong.append((await answer.aread()).decode()[:200])
                else:
                    async for piece in answer.aiter_raw():
                        pieces.append(piece)
                        if not stays and len(pieces) > patience:
                            heard.hung_up += 1
                            break
                    else:
                        heard.whole.setdefault(number, []).append(b"".join(pieces))
        except httpx.ReadTimeout:
            heard.hung_up += 1
        except httpx.HTTPError as error:
            heard.wrong.append(repr(error))
        await asyncio.sleep(dice.random())


async def crowd(url: str) -> Heard:
    heard, ends = Heard(), time.monotonic() + SECONDS
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=300) as http:
        await asyncio.gather(*(client(number, http, ends, heard) for number in range(CLIENTS)))
    return heard


def test_two_minutes_of_sixty_four_clients(served):
    server = psutil.Process(served.pid)
    for model in ("kokoro", "joe"):
        served.post("api/stream", {"text": LONG[:800], "model": model}).read()
    before = server.memory_info().rss
    heard = asyncio.run(crowd(served.url))
    until(served.idle, 60)
    assert not heard.wrong and heard.hung_up > 50 and len(heard.whole) > CLIENTS / 2, heard
    assert all(len({data for data in answers}) == 1 for answers in heard.whole.values()), "one text, one seed, two sounds"
    for number in random.Random(2).sample(sorted(heard.whole), SAMPLED):
        rate = 22_050 if number % 2 else 24_000
        sound = np.frombuffer(heard.whole[number][0], "<i2").astype(np.float32) / 32768
        assert word_error_rate(TEXTS[number], transcribe(sound, rate, "en")) < 0.35
    with served.post("api/stream", {"text": TEXTS[0], "model": "joe"}) as answer:
        assert answer.read(1000)
    report = served.get("api/pool")
    assert all(session["state"] == "ready" and session["restarts"] == 0 for session in report["sessions"])
    assert server.memory_info().rss < before + GROWTH
