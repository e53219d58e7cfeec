"""GET /metrics: how the server does, for Prometheus.

Histograms and counters of requests grow as requests end; what is true at the moment (states, queues, memory, caches) is
read from the pool at each scrape. Names are seconds and bytes throughout, as Prometheus' conventions want it.
"""
from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Iterator

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from models.life import STATES
from models.metrics import RequestMetrics
from models.pool import Pool
from server.errors import refused

log = logging.getLogger("readyvoice.requests")
SOON = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30)  # seconds
PACES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 3, 10)  # compute over audio


class Requests:
    """What is counted as requests end, and one line a request in the log."""

    def __init__(self, registry: CollectorRegistry):
        def histogram(name: str, help: str, buckets: Iterable[float]) -> Histogram:
            return Histogram(f"readyvoice_{name}", help, ["model"], registry=registry, buckets=buckets)

        def counter(name: str, help: str, *labels: str) -> Counter:
            return Counter(f"readyvoice_{name}", help, ["model", *labels], registry=registry)

        self._ttfa = histogram("ttfa_seconds", "Arrival of a request to its first audio.", SOON)
        self._waited = histogram("queue_wait_seconds", "Arrival of a request to its start.", SOON)
        self._rtf = histogram("rtf", "Compute time over audio time of finished requests.", PACES)
        self._ended = counter("requests", "Requests that ended, by how.", "state")
        self._errors = counter("request_errors", "Requests that failed after they were queued, by error code.", "code")
        self._audio = counter("audio_seconds", "Seconds of sound made.")
        self._compute = counter("compute_seconds", "Seconds that sessions worked on requests.")

    def note(self, metrics: RequestMetrics) -> None:
        model = metrics.model
        self._ended.labels(model, metrics.state).inc()
        self._audio.labels(model).inc(metrics.audio_seconds)
        self._compute.labels(model).inc(metrics.compute)
        if metrics.state == "failed":
            self._errors.labels(model, metrics.error["code"]).inc()
        for histogram, value in ((self._ttfa, metrics.ttfa), (self._waited, metrics.queue_wait),
                                 (self._rtf, metrics.rtf if metrics.state == "done" else None)):
            if value is not None:
                histogram.labels(model).observe(value)
        log.info("%s", json.dumps(_line(metrics), ensure_ascii=False))


class Now:
    """What is true at the moment of a scrape."""

    def __init__(self, pool: Pool):
        self._pool = pool

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        report = self._pool.report()
        sessions = report["sessions"]
        yield _gauge("ready", "1 when every eager session can take requests.", float(report["ready"]))
        yield _gauge("uptime_seconds", "Since the pool began.", report["uptime"])
        states = GaugeMetricFamily("readyvoice_session_state", "1 for the state a session is in.",
                                   labels=["model", "state"])
        for session in sessions:
            for state in STATES:
                states.add_metric([session["id"], state], float(session["state"] == state))
        yield states
        for key, help in (("queue", "Requests that wait for their first sound."), ("running", "Requests being spoken."),
                          ("memory_bytes", "What loading a session took.")):
            name = key if key.endswith("bytes") else f"{key}_requests"
            yield _by_model(GaugeMetricFamily, f"session_{name}", help, {one["id"]: one[key] or 0 for one in sessions})
        yield _by_model(CounterMetricFamily, "session_restarts", "Restarts after a session died.",
                        {one["id"]: one["restarts"] for one in sessions})
        yield from _caches(sessions)
        yield from _memory(report["memory"])
        answers = CounterMetricFamily("readyvoice_refused", "Answers with an error instead of sound, by code.",
                                      labels=["code"])
        for code, count in dict(refused).items():
            answers.add_metric([code], count)
        yield answers


def metrics_routes(pool: Pool) -> APIRouter:
    registry = CollectorRegistry()
    pool.book.observers.append(Requests(registry).note)
    registry.register(Now(pool))
    ProcessCollector(registry=registry)
    router = APIRouter()

    @router.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        headers = {"Cache-Control": "no-store"}
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST, headers=headers)

    return router


def _caches(sessions: list[dict]) -> Iterator[Metric]:
    labels = ["model", "cache"]
    for key, help in (("hits", "Found in a session's cache."), ("misses", "Not found there."),
                      ("evictions", "Dropped for newer entries.")):
        counter = CounterMetricFamily(f"readyvoice_cache_{key}", help, labels=labels)
        for session in sessions:
            for cache in session["caches"]:
                counter.add_metric([session["id"], cache["name"]], cache[key])
        yield counter
    size = GaugeMetricFamily("readyvoice_cache_bytes", "Of what a session's cache holds.", labels=labels)
    for session in sessions:
        for cache in session["caches"]:
            size.add_metric([session["id"], cache["name"]], cache["bytes"])
    yield size


def _memory(devices: dict[str, dict[str, int]]) -> Iterator[Metric]:
    for key, help in (("used", "Memory that counts as used, per device."), ("limit", "The most that may be used.")):
        gauge = GaugeMetricFamily(f"readyvoice_memory_{key}_bytes", help, labels=["device"])
        for device, figures in devices.items():
            gauge.add_metric([device], figures[key])
        yield gauge
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        free = GaugeMetricFamily("readyvoice_gpu_free_bytes", "As the driver tells.", labels=["device"])
        for number in range(torch.cuda.device_count()):
            free.add_metric([f"cuda:{number}"], torch.cuda.mem_get_info(number)[0])
        yield free


def _gauge(name: str, help: str, value: float) -> Metric:
    return GaugeMetricFamily(f"readyvoice_{name}", help, value=value)


def _by_model(kind: type, name: str, help: str, values: dict[str, float]) -> Metric:
    metric = kind(f"readyvoice_{name}", help, labels=["model"])
    for model, value in values.items():
        metric.add_metric([model], value)
    return metric


def _line(metrics: RequestMetrics) -> dict:
    """A request in the log: figures, and never its text."""
    report = metrics.report()
    error = report.pop("error")
    rounded = {key: round(value, 4) if isinstance(value, float) else value for key, value in report.items()}
    return rounded | ({"error": error["code"]} if error else {})
