"""A real Chromium on the served product, with an ear on the page's audio graph."""
from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from tests.served import Served

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--autoplay-policy=no-user-gesture-required", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]
EAR = Path(__file__).with_name("ear.js")


@dataclass(frozen=True)
class Sound:
    """What reached the loudspeaker: float32 mono at `rate` Hz, from the first to the last sample that isn't zero.
    at, until: performance.now() of these, None when nothing sounded."""

    samples: np.ndarray
    rate: int
    at: float | None
    until: float | None

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


@dataclass
class Visit:
    """A tab on the page, with all it printed and asked for."""

    page: Page
    url: str
    console: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.console.append(f"uncaught: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self) -> Visit:
        self.page.goto(self.url)
        self.page.wait_for_selector(".rv-voice-row")
        return self

    @property
    def state(self) -> str:
        return self.page.get_attribute(".rv-play", "data-state") or ""

    def wait(self, *states: str, seconds: float = 120) -> Visit:
        wanted = ", ".join(f".rv-play[data-state='{state}']" for state in states)
        self.page.wait_for_selector(wanted, timeout=seconds * 1000)
        return self

    def type(self, text: str) -> Visit:
        self.page.fill("#rv-text", text)
        return self

    def speak(self, text: str) -> Visit:
        """Type and click; returns as soon as the click is done."""
        self.type(text)
        self.page.evaluate("ear.forget()")
        self.page.click("#rv-speak")
        return self

    def choose(self, label: str, value: str) -> Visit:
        self.page.select_option(f"#rv-{label}", value)
        return self

    def heard(self) -> list[Sound]:
        """One entry for each audio output the page has opened, in that order."""
        return [
            Sound(np.frombuffer(base64.b64decode(one["samples"]), "<f4"), one["rate"], one["at"], one["until"])
            for one in self.page.evaluate("ear.heard()")
        ]

    def sound(self) -> Sound:
        """The one output that sounded."""
        (sound,) = [sound for sound in self.heard() if len(sound.samples)]
        return sound

    def foreign(self) -> list[str]:
        own = urlsplit(self.url).netloc
        return [url for url in self.asked if urlsplit(url).netloc not in ("", own)]


def installed() -> str | None:
    """A browser that is there anyway; None for the one that Playwright fetched."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


@pytest.fixture(scope="package")  # its event loop would be in the way of other tests
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    chromium = playwright.chromium.launch(executable_path=installed(), args=ARGUMENTS)
    yield chromium
    chromium.close()


@pytest.fixture
def visit(browser: Browser, served: Served) -> Iterator[Callable[..., Visit]]:
    """visit(locale="zh-CN", ...) opens the page in a browser of its own; before: a script that runs ahead of
    the page's; options are Playwright's for a context."""
    contexts: list[BrowserContext] = []

    def open_page(url: str = "", before: str = "", **options) -> Visit:
        context = browser.new_context(**{"locale": "en-GB", "viewport": {"width": 1280, "height": 860}, **options})
        contexts.append(context)
        context.add_init_script(path=EAR)
        context.add_init_script(before)
        return Visit(context.new_page(), url or served.url).open()

    yield open_page
    for context in contexts:
        context.close()
