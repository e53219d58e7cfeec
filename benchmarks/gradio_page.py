"""The page a Gradio project would write, `gr.Audio(streaming=True)`, in Chromium: how long after a click it sounds."""
from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.peer import environment

SCRIPT = Path(__file__).parent / "peers" / "gradio_audio.py"
# its sound goes through a media element: the moment that element's clock moves is taken as the first sound, which
# favours it, since the samples leave for the loudspeaker a little later
WATCH = """(() => {
    window.moves = [];
    const seen = new WeakMap();
    const look = () => {
        for (const one of document.querySelectorAll('audio')) {
            const before = seen.get(one) ?? 0;
            if (one.currentTime > before && !one.paused) window.moves.push([performance.timeOrigin + performance.now(), one.currentTime - before]);
            seen.set(one, one.currentTime);
        }
        setTimeout(look, 2);
    };
    look();
})()"""
CLICK = """(() => { window.moves.length = 0; const at = performance.timeOrigin + performance.now();
    document.querySelector('#speak').click(); return at; })()"""


class GradioPage:
    """One open page of it; `measure` makes one click."""

    def __init__(self, process: subprocess.Popen, page):
        self._process, self._page = process, page

    def measure(self, text: str, model: str) -> dict[str, float]:
        """Milliseconds: `sound` from the click to the first sound, `after` from the server's first chunk to it."""
        page = self._page
        page.bring_to_front()
        page.reload()
        page.wait_for_selector("#speak")
        page.evaluate(WATCH)
        for name, value in (("#text", text), ("#model", model)):
            page.locator(f"{name} textarea, {name} input").first.fill(value)
        page.wait_for_timeout(300)
        clicked = page.evaluate(CLICK)
        first = json.loads(self._process.stdout.readline())["first"] * 1000
        page.wait_for_function("window.moves.length > 0", timeout=15_000)
        sounded = page.evaluate("window.moves[0][0] - window.moves[0][1] * 1000")
        page.wait_for_timeout(1500)
        return {"sound": sounded - clicked, "after": sounded - first}


@contextmanager
def gradio_page(browser, url: str, port: int) -> Iterator[GradioPage]:
    """browser: Playwright's. url: a running ReadyVoice, which does the speaking. port: a free one."""
    python = environment("gradio-audio", ["imageio-ffmpeg>=0.6"], borrow=True)
    process = subprocess.Popen([str(python), str(SCRIPT), url, str(port)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        while "ready" not in process.stdout.readline():
            if process.poll() is not None:
                raise RuntimeError(f"the Gradio page ended with status {process.returncode}")
        page = browser.new_page(locale="en-GB")
        page.goto(f"http://127.0.0.1:{port}/")
        yield GradioPage(process, page)
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
