"""/metrics: valid, counting what happened, and enough for the dashboard."""
from __future__ import annotations

import json
import logging
import re
import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from models.metrics import MetricsBook, RequestMetrics
from server.prometheus import Requests
from tests.served import ROOT
from tests.waiting import until

UNITS = ("milliseconds", "minutes", "kilobytes", "megabytes")


def scrape(served):
    with urllib.request.urlopen(served.url + "metrics", timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=")
        return list(text_string_to_metric_families(answer.read().decode()))


def value(families, name, **labels):
    """The sum of a metric's samples that have these labels."""
    found = [sample for family in families for sample in family.samples
             if sample.name == name and labels.items() <= sample.labels.items()]
    return sum(sample.value for sample in found)


def speak(served, text, model):
    with served.post("api/stream", {"text": text, "model": model, "seed": 1}) as answer:
        return len(answer.read()) / 2 / int(answer.headers["X-Sample-Rate"])


def test_it_is_what_promtool_calls_valid(served):
    speak(served, "Hello there.", "joe")
    families = scrape(served)
    names = [family.name for family in families]
    assert len(names) == len(set(names))
    for family in families:
        assert family.documentation and family.type in ("counter", "gauge", "histogram"), family.name
        assert re.fullmatch(r"(readyvoice|process)_[a-z_]+", family.name)
        assert not any(unit in family.name for unit in UNITS)
        if family.type == "counter":
            assert all(sample.name.endswith(("_total", "_created")) for sample in family.samples)
        else:
            assert not family.name.endswith(("_total", "_count", "_sum", "_bucket"))
        seen = [(sample.name, tuple(sorted(sample.labels.items()))) for sample in family.samples]
        assert len(seen) == len(set(seen))


@pytest.mark.parametrize("model", ["joe", "kokoro"])
def test_a_request_is_counted(served, model):
    before = scrape(served)
    seconds = speak(served, "The weather will be fine tomorrow.", model)
    until(lambda: value(scrape(served), "readyvoice_requests_total", model=model, state="done")
          > value(before, "readyvoice_requests_total", model=model, state="done"), 10)
    after = scrape(served)

    def grown(name, **labels):
        return value(after, name, model=model, **labels) - value(before, name, model=model, **labels)

    assert grown("readyvoice_audio_seconds_total") == pytest.approx(seconds, abs=1e-3)
    assert grown("readyvoice_compute_seconds_total") > 0
    assert grown("readyvoice_ttfa_seconds_count") == grown("readyvoice_rtf_count") == 1
    assert 0 < grown("readyvoice_queue_wait_seconds_sum") < grown("readyvoice_ttfa_seconds_sum")
    cache = {"joe": "phoneme_cache", "kokoro": "style_cache"}[model]
    assert sum(grown(f"readyvoice_cache_{how}_total", cache=cache) for how in ("hits", "misses")) >= 1


def test_states_and_memory(served):
    families = scrape(served)
    for model in ("joe", "kokoro"):
        assert value(families, "readyvoice_session_state", model=model, state="ready") == 1
        assert value(families, "readyvoice_session_state", model=model) == 1  # and in no other
        assert value(families, "readyvoice_session_memory_bytes", model=model) > 1e6
    assert value(families, "readyvoice_ready") == 1
    assert 1e8 < value(families, "process_resident_memory_bytes")
    assert 0 < value(families, "readyvoice_memory_used_bytes") < value(families, "readyvoice_memory_limit_bytes")


@pytest.mark.parametrize(("path", "body"), [("api/stream", {"text": "Hi.", "voice": "nobody", "model": "joe"}),
                                            ("v1/audio/speech", {"input": "Hi.", "voice": "nobody", "model": "joe"})])
def test_a_refusal_is_counted_by_its_code(served, path, body):
    before = scrape(served)
    with pytest.raises(urllib.error.HTTPError):
        served.post(path, body)
    after = scrape(served)
    assert value(after, "readyvoice_refused_total", code="voice_unknown") == 1 + value(
        before, "readyvoice_refused_total", code="voice_unknown")


def test_a_failure_has_a_line_in_the_log_without_the_text(caplog):
    caplog.set_level(logging.INFO, "readyvoice.requests")
    registry = CollectorRegistry()
    book = MetricsBook()
    book.observers.append(Requests(registry).note)
    failed = RequestMetrics("ab" * 16, "joe", state="failed", ttfa=0.05, total=1.23456,
                            error={"code": "deadline", "field": None, "message": "Too late.", "messages": {}})
    book.ended(failed)
    line = json.loads(caplog.records[-1].getMessage())
    assert (line["id"], line["error"], line["total"], line["state"]) == ("ab" * 16, "deadline", 1.2346, "failed")
    assert registry.get_sample_value("readyvoice_request_errors_total", {"model": "joe", "code": "deadline"}) == 1


def test_an_observer_that_fails_hurts_nobody(caplog):
    book, seen = MetricsBook(), []
    book.observers += [lambda metrics: 1 / 0, seen.append]
    book.ended(RequestMetrics("cd" * 16, "joe"))
    assert len(seen) == 1 and "could not be counted" in caplog.text


def test_the_dashboard_asks_for_what_there_is(served):
    speak(served, "Hello there.", "joe")
    with pytest.raises(urllib.error.HTTPError):
        served.post("api/stream", {"text": ""})
    names = {sample.name for family in scrape(served) for sample in family.samples}
    names |= {family.name + "_total" for family in scrape(served) if family.type == "counter"}  # none counted yet
    board = json.loads((ROOT / "deploy/grafana/readyvoice.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    wanted = {name for expr in asked for name in re.findall(r"\b(?:readyvoice|process)_[a-z_]+", expr)}
    assert len(asked) > 20 and wanted <= names
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
