"""The page follows what the pool becomes, without being loaded again."""
from __future__ import annotations

import os
import signal

from tests.models.fleets import entry, second_voice
from tests.served import serve

LINE = "A short line for the page."


def test_new_models_and_voices_appear_on_an_open_page(visit, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text(entry("one"), "utf-8")
    with serve(config) as served:
        tab = visit(served.url)
        tab.page.evaluate("window.same = true")
        tab.page.click("#rv-pool summary")  # while somebody looks, the pool is asked every few seconds
        config.write_text(entry("one", second_voice(tmp_path / "jane")) + entry("two"), "utf-8")
        os.kill(served.pid, signal.SIGHUP)
        tab.page.wait_for_selector("#rv-model option[value='two']", state="attached", timeout=60_000)
        tab.page.wait_for_selector("input[value='en_US-jane-medium']", state="attached", timeout=60_000)
        tab.page.check("input[value='en_US-jane-medium']", force=True)
        tab.speak(LINE).wait("finished")
        assert tab.sound().seconds > 0.5 and tab.page.evaluate("window.same") and tab.console == []


def test_the_panel_says_why_a_model_waits_and_what_is_in_use(visit, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[server]\nmemory_budget = "460 MB"\n' + entry("here") + entry("waits", priority=-1), "utf-8")
    with serve(config) as served:
        tab = visit(served.url)
        tab.page.click("#rv-pool summary")
        waits = tab.page.locator(".rv-session:has(h3:has-text('waits'))")
        waits.locator(".rv-note").wait_for()
        assert "its first request loads it" in waits.inner_text() and "raise memory_budget" in waits.inner_text()
        assert "of 460 MB in use" in tab.page.inner_text(".rv-budget")
        tab.choose("model", "waits").speak(LINE).wait("failed")
        assert "needs about" in tab.page.inner_text(".rv-status")
        assert all("503" in line for line in tab.console)  # the browser's own word on the refusal
        tab.page.click(".rv-switch")
        tab.page.wait_for_selector(".rv-note:has-text('内存')", timeout=60_000)
