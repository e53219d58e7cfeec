"""A pool whose sessions are elsewhere: what page and API ask of a pool, answered through a Ray Serve handle."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from ray import serve
from ray.serve.handle import DeploymentHandle

from models.config import Config
from models.errors import SpeechError
from models.events import AudioChunk, Done, Event, Failed, SpeechRequest, Started
from models.families.protocol import ModelSpec
from models.life import Life
from models.metrics import MetricsBook, RequestMetrics
from models.pool import Pool
from models.session import Session

APP = "readyvoice"
LOOK = 2.0  # seconds between two looks at the replicas
STREAMS = 256  # at a time; further ones are asked to come back


class RemoteWorker(Life):
    """What is known of a model from its replicas' reports."""

    sign = None  # each replica has a watchdog of its own
    load_seconds = warm_seconds = 0.0

    def __init__(self, spec: ModelSpec, watch: Callable[[str], None]):
        super().__init__(spec, watch)
        self.report: dict[str, Any] = {}

    def start(self) -> None:
        if self.state == "registered":
            self._become("loading")

    def told(self, session: dict[str, Any], model: dict[str, Any]) -> None:
        self.report = session
        self.load_seconds, self.warm_seconds = session["load_seconds"] or 0.0, session["warm_seconds"] or 0.0
        self._model = SimpleNamespace(languages=model["languages"], clones=model["clones"], slots=list)
        if session["state"] != self.state:
            self._become(session["state"], session["reason"] or "")

    def end(self) -> None:
        if self.state != "unloaded":
            self._become("unloaded")

    def close(self, timeout: float = 0.0) -> None:
        self.end()


class RemoteSession(Session):
    """Requests go to the replica that Serve chooses: one that has spoken in the voice before, if it isn't too busy."""

    here = False

    def __init__(self, spec: ModelSpec, book: MetricsBook, handle: DeploymentHandle, threads: ThreadPoolExecutor,
                 places: threading.Semaphore, watch: Callable[[Session, str], None]):
        self.spec, self.deferred, self.note, self.successor = spec, False, None, None
        self.incoming, self.removed, self._book, self._known = None, False, book, {}
        self._handle, self._threads, self._places = handle, threads, places
        self.worker = RemoteWorker(spec, lambda line: watch(self, line))
        self.start, self.wait_ready, self.close = self.worker.start, self.worker.wait_ready, self.worker.close

    def told(self, session: dict[str, Any], model: dict[str, Any]) -> None:
        self._known = {name: model[name] for name in ("sample_rate", "languages", "voices", "default_voice")}
        self.worker.told(session, model)

    def catalog(self) -> dict:
        return self._known or {"sample_rate": None, "languages": [], "voices": [], "default_voice": {}}

    def report(self, language: str = "en") -> dict:
        return {**self.worker.report, "id": self.spec.id, "state": self.state} if self.worker.report else super().report(language)

    def submit(self, request: SpeechRequest, sink: Callable[[Event], None]) -> RemoteJob:
        self.worker.must_be_ready()
        if not self._places.acquire(blocking=False):
            raise SpeechError("queue_full", model=self.spec.id, length=STREAMS)
        try:
            return RemoteJob(self, request, sink)
        except BaseException:
            self._places.release()
            raise


class RemoteJob:
    """A request at a replica, and the thread that carries its events here."""

    def __init__(self, session: RemoteSession, request: SpeechRequest, sink: Callable[[Event], None]):
        self._session, self._request, self._sink = session, request, sink
        self._cancelled = threading.Event()
        self.metrics = RequestMetrics(request.id, session.spec.id, arrived_at=time.time())
        session._book.add(self.metrics)
        voice = request.clip.digest if request.clip is not None else request.voice or request.language
        handle = session._handle.options(method_name="speak", stream=True, multiplexed_model_id=f"{session.spec.id} {voice}"[:200])
        self._answer = handle.remote(request, time.monotonic() - request.arrived)
        session._threads.submit(self._carry)

    def cancel(self) -> None:
        if not self._cancelled.is_set():
            self._cancelled.set()
            self._answer.cancel()

    def taken(self, seconds: float) -> None:
        """A replica doesn't wait for its reader: what it makes waits in Ray's object store."""

    def _carry(self) -> None:
        first, died = None, SpeechError("session_died", model=self._session.spec.id)
        try:
            for event in self._answer:
                if isinstance(event, AudioChunk) and first is None:
                    first = time.monotonic() - self._request.arrived
                if isinstance(event, Started):
                    self.metrics.state = "running"
                if isinstance(event, (Done, Failed)):
                    event.metrics.ttfa, event.metrics.total = first, time.monotonic() - self._request.arrived
                    return self._end(event)
                self._pass_on(event)
            self._end(Failed(died, self.metrics))
        except BaseException:  # the replica is gone, or the request was cancelled: Ray has many kinds for both
            self._end(Failed(SpeechError("cancelled") if self._cancelled.is_set() else died, self.metrics))
        finally:
            self._session._places.release()

    def _end(self, event: Done | Failed) -> None:
        metrics = event.metrics
        if isinstance(event, Failed) and metrics.error is None:
            metrics.failed(event.error)
        self._cancelled.set()
        self._session._book.add(metrics)
        self._session._book.ended(metrics)
        self._pass_on(event)

    def _pass_on(self, event: Event) -> None:
        try:
            self._sink(event)
        except Exception:  # the reader's loop is closed: nobody listens any more
            self.cancel()


class RemotePool(Pool):
    """watch: as a `Pool`'s."""

    def __init__(self, config: Config, handle: DeploymentHandle, watch: Callable[[Session, str], None]):
        self._handle, self._replicas = handle, 0
        self._threads, self._places = ThreadPoolExecutor(STREAMS, "remote"), threading.Semaphore(STREAMS)
        self._over = threading.Event()
        super().__init__(config, watch)

    def make(self, spec: ModelSpec) -> Session:
        return RemoteSession(spec, self.book, self._handle, self._threads, self._places, self._watch)

    def start(self) -> None:
        for session in self.sessions.values():
            session.start()
        threading.Thread(target=self._look_on, name="replicas", daemon=True).start()

    def report(self, language: str = "en") -> dict:
        return {**super().report(language), "replicas": self._replicas}

    def close(self) -> None:
        self._over.set()
        super().close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _look_on(self) -> None:
        while not self._over.is_set():
            try:
                self._look()
            except Exception:  # none answers at the moment: the next look may find one
                self._replicas = 0
            self._over.wait(LOOK)

    def _look(self) -> None:
        told = self._handle.report.remote().result(timeout_s=30)
        for name, session in self.sessions.items():
            before = session.catalog()
            session.told(told["sessions"][name], told["catalog"][name])
            if session.catalog() != before:
                self.version = next(self._versions)
        states = serve.status().applications[APP].deployments["Replica"].replica_states
        self._replicas = sum(count for state, count in states.items() if str(getattr(state, "value", state)) == "RUNNING")
