"""A replica: one pool on one machine, spoken to through Ray Serve."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from ray import serve

from cli.parsing import one_parse_at_a_time
from models.config import load_config
from models.errors import SpeechError
from models.events import AudioChunk, Done, Event, Failed, SpeechRequest, Started
from models.families import fetch
from models.memory import few_arenas
from models.metrics import RequestMetrics
from models.pool import Pool

VOICES = 64  # that a replica is known by: the least recently used is forgotten


class Replica:
    """config: the fleet's file, on every machine at the same place."""

    def __init__(self, config: str):
        few_arenas()
        one_parse_at_a_time()
        self._pool = Pool(load_config(Path(config)))
        for spec in self._pool.config.models:
            fetch(spec, lambda line: None)
        self._pool.start()
        self._pool.wait_ready()

    @serve.multiplexed(max_num_models_per_replica=VOICES)
    async def _hold(self, voice: str) -> str:
        """From now on Serve prefers this replica for the voice: its state is in a session's cache."""
        return voice

    async def speak(self, request: SpeechRequest, age: float) -> AsyncIterator[Event]:
        """The request's events. age: seconds since it arrived at the front; clocks of two machines can't be compared."""
        await self._hold(serve.get_multiplexed_model_id())
        request = replace(request, arrived=monotonic() - age)
        events: asyncio.Queue[Event] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        session = self._pool.session_for(request)
        try:
            job = await asyncio.to_thread(
                session.submit, request, lambda event: loop.call_soon_threadsafe(events.put_nowait, event))
        except SpeechError as error:
            yield Failed(error, RequestMetrics(request.id, session.spec.id, state="failed"))
            return
        rate = 1
        try:
            while True:
                event = await events.get()
                if isinstance(event, Started):
                    rate = event.sample_rate
                yield event
                if isinstance(event, AudioChunk):
                    job.taken(len(event.samples) / rate)
                if isinstance(event, (Done, Failed)):
                    return
        finally:
            job.cancel()

    async def report(self) -> dict[str, Any]:
        """What the front shows of the fleet."""
        return {"sessions": {one["id"]: one for one in self._pool.report()["sessions"]},
                "catalog": {one["id"]: one for one in self._pool.catalog()["models"]}}

    def check_health(self) -> None:
        """Ray Serve replaces a replica that raises here."""
        if failed := [name for name, state in self._pool.states().items() if state == "failed"]:
            raise RuntimeError(f"{', '.join(failed)} failed")

    def __del__(self) -> None:
        if hasattr(self, "_pool"):
            self._pool.close()


def application(config: Path, replicas: int, most: int, cores: float, gpus: float) -> serve.Application:
    """So many replicas at least and at most; another comes when 4 requests a replica are under way for a while."""
    deployment = serve.deployment(
        Replica, name="Replica", max_ongoing_requests=64, ray_actor_options={"num_cpus": cores, "num_gpus": gpus},
        autoscaling_config={"min_replicas": replicas, "initial_replicas": replicas, "max_replicas": most,
                            "target_ongoing_requests": 4},
    )
    return deployment.bind(str(config.resolve()))
