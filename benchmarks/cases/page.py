"""The page in a real Chromium: click to sound, sound after the server's first bytes, gaps, Stop to silence."""
from __future__ import annotations

import argparse
import shutil
from contextlib import nullcontext
from pathlib import Path

from benchmarks.common import Result, median

ROUNDS = 15
TEXT = "The last tram had gone, so we walked along the river and counted the lights on the other side."
EAR = Path(__file__).resolve().parents[2] / "tests" / "browser" / "ear.js"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
ENGINE = """import(document.querySelector('link[href*="player/engine"]').href)"""
READ = ENGINE + """.then(({ current }) => {
    const { times: { click, asked, bytes }, droughts } = current();
    const at = ear.heard().find((one) => one.at !== null).at;
    return { asked: asked - click, bytes: bytes - click, sound: at - click, after: at - bytes, droughts };
})"""
STOP = """(() => { const at = performance.now(); document.querySelector('#rv-stop').click(); return at; })()"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="a running ReadyVoice (default: start one)")
    parser.add_argument("--models", nargs="*", help="model ids (default: all that are ready)")


def run(options: argparse.Namespace) -> Result:
    from playwright.sync_api import sync_playwright

    from tests.served import Served, serve

    given = nullcontext(Served(options.url.rstrip("/") + "/", 0, Path())) if options.url else serve()
    with given as served, sync_playwright() as playwright:
        names = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
        browser = playwright.chromium.launch(executable_path=next(filter(None, names), None), args=ARGUMENTS)
        page = browser.new_page(locale="en-GB")
        page.add_init_script(path=EAR)
        page.goto(served.url)
        page.wait_for_selector(".rv-voice-row")
        page.fill("#rv-text", TEXT)
        ready = [model["id"] for model in served.get("api/models")["models"] if model["state"] == "ready"]
        samples = {model: _measure(page, model, options.rounds) for model in options.models or ready}
        browser.close()
    columns = ("ms, median (worst)", "click to request", "click to first bytes", "click to sound",
               "bytes to sound", "stop to silence", "runs with gaps")
    keys = ("asked", "bytes", "sound", "after", "stop")
    rows, ours = [], {}
    for model, taken in samples.items():
        ours[model] = {key: median([one[key] for one in taken]) for key in keys}
        gaps = sum(one["droughts"] > 0 for one in taken)
        ours[model]["runs with gaps"] = gaps
        cells = [f"{ours[model][key]:.1f} ({max(one[key] for one in taken):.1f})" for key in keys]
        rows.append((model, *cells, f"{gaps} of {len(taken)}"))
    return Result("page", None, ours, {}, columns, rows, "bytes to sound 15 ms or less in the median, no gap",
                  samples=samples)


def _measure(page, model: str, rounds: int) -> list[dict]:
    page.select_option("#rv-model", model)
    taken = []
    for number in range(rounds + 1):
        page.evaluate("ear.forget()")
        page.click("#rv-speak")
        page.wait_for_selector(".rv-play[data-state='finished']", timeout=120_000)
        one = page.evaluate(READ)
        page.evaluate("ear.forget()")
        page.click("#rv-speak")
        page.wait_for_selector(".rv-play[data-state='speaking']", timeout=120_000)
        page.wait_for_timeout(300)
        stopped = page.evaluate(STOP)
        page.wait_for_timeout(300)
        one["stop"] = page.evaluate("ear.heard().find((one) => one.until !== null).until") - stopped
        if number:  # the first one opens the browser's sound
            taken.append(one)
    return taken
