"""The page in a real Chromium: click to sound, next to `gr.Audio(streaming=True)` on the same session.

after: from the moment the server had its first chunk to the first audible sample. gr.Audio's side is a page of its own
whose event reads the same stream. Also: first bytes in the browser to sound, Stop to silence, runs with gaps.
"""
from __future__ import annotations

import argparse
import shutil
from contextlib import nullcontext
from pathlib import Path

from benchmarks.common import Result, alternate, median
from benchmarks.gradio_page import gradio_page

ROUNDS = 9
TEXT = "The last tram had gone, so we walked along the river and counted the lights on the other side."
EAR = Path(__file__).resolve().parents[2] / "tests" / "browser" / "ear.js"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
             "--autoplay-policy=no-user-gesture-required"]
ENGINE = """import(document.querySelector('link[href*="player/engine"]').href)"""
READ = ENGINE + """.then(({ current }) => {
    const { times: { click, asked, bytes }, droughts, request: { id } } = current();
    const at = ear.heard().find((one) => one.at !== null).at;
    return { id, asked: asked - click, bytes: bytes - click, sound: at - click, late: at - bytes, droughts,
        audible: performance.timeOrigin + at };
})"""
STOP = """(() => { const at = performance.now(); document.querySelector('#rv-stop').click(); return at; })()"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="a running ReadyVoice (default: start one)")
    parser.add_argument("--models", nargs="*", help="model ids (default: all that are ready)")


def run(options: argparse.Namespace) -> Result:
    from playwright.sync_api import sync_playwright

    from tests.served import Served, free_port, serve

    given = nullcontext(Served(options.url.rstrip("/") + "/", 0, Path())) if options.url else serve()
    samples: dict[str, dict[str, list[dict]]] = {}
    with given as served, sync_playwright() as playwright:
        names = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
        browser = playwright.chromium.launch(executable_path=next(filter(None, names), None), args=ARGUMENTS)
        page = browser.new_page(locale="en-GB")
        page.add_init_script(path=EAR)
        page.goto(served.url)
        page.wait_for_selector(".rv-voice-row")
        page.fill("#rv-text", TEXT)
        ready = [model["id"] for model in served.get("api/models")["models"] if model["state"] == "ready"]
        with gradio_page(browser, served.url, free_port()) as theirs:
            for model in options.models or ready:
                page.select_option("#rv-model", model)
                samples[model] = alternate({
                    "ours": lambda: _measure(page, served),
                    "gr.Audio": lambda model=model: theirs.measure(TEXT, model),
                }, options.rounds)
        browser.close()
    columns = ("ms, median (worst)", "click to sound", "after the first chunk", "first bytes to sound",
               "stop to silence", "runs with gaps", "gr.Audio: click to sound", "after the first chunk")
    rows, ours, peer = [], {}, {}
    for model, taken in samples.items():
        mine, gradio = taken["ours"], taken["gr.Audio"]
        ours[model] = {key: median([one[key] for one in mine])
                       for key in ("asked", "bytes", "sound", "after", "late", "stop")}
        ours[model]["runs_with_gaps"] = sum(one["droughts"] > 0 for one in mine)
        peer[model] = {key: median([one[key] for one in gradio]) for key in ("sound", "after")}
        rows.append((model, *(_cell(mine, key) for key in ("sound", "after", "late", "stop")),
                     f"{ours[model]['runs_with_gaps']} of {len(mine)}", *(_cell(gradio, key) for key in ("sound", "after"))))
    ratio = max(ours[model]["after"] / peer[model]["after"] for model in samples)
    return Result("browser", ratio, ours, {"gr.Audio": peer}, columns, rows,
                  "after the first chunk 15 ms or less in the median, no gap", samples=samples)


def _cell(taken: list[dict], key: str) -> str:
    return f"{median([one[key] for one in taken]):.1f} ({max(one[key] for one in taken):.1f})"


def _measure(page, served) -> dict:
    page.bring_to_front()
    page.evaluate("ear.forget()")
    page.click("#rv-speak")
    page.wait_for_selector(".rv-play[data-state='finished']", timeout=120_000)
    one = page.evaluate(READ)
    figures = served.get(f"api/requests/{one.pop('id')}")
    one["after"] = one.pop("audible") - (figures["arrived_at"] + figures["ttfa"]) * 1000
    page.evaluate("ear.forget()")
    page.click("#rv-speak")
    page.wait_for_selector(".rv-play[data-state='speaking']", timeout=120_000)
    page.wait_for_timeout(300)
    stopped = page.evaluate(STOP)
    page.wait_for_timeout(300)
    one["stop"] = page.evaluate("ear.heard().find((one) => one.until !== null).until") - stopped
    return one
