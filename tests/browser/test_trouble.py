"""When something goes wrong on the way: it is said in one sentence, and what was heard stays."""
from __future__ import annotations

import numpy as np

from tests.browser.proxy import proxy
from tests.listening import transcribe, word_error_rate
from tests.served import serve

LINE = "The quick brown fox jumps over the lazy dog near the old stone bridge."
STORY = "It was a long way to the sea, and nobody knew the road. " * 300
DROUGHTS = """import(document.querySelector('link[href*="player/engine"]').href).then(({ current }) => current().droughts)"""
SHORT_DEADLINE = '[server]\ndeadline = 6\n[[models]]\nid = "joe"\nfamily = "vits"\n'


def kept_seconds(tab) -> float:
    tab.page.wait_for_selector(".rv-download")
    tab.page.wait_for_function("document.querySelector('.rv-clip audio').duration > 0")
    return tab.page.evaluate("document.querySelector('.rv-clip audio').duration")


def test_a_failing_stream_says_why_and_keeps_what_came(visit, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text(SHORT_DEADLINE)
    with serve(config) as running:
        tab = visit(running.url, locale="zh-CN").speak(STORY).wait("failed")
        said = tab.page.inner_text(".rv-status")
        assert said.startswith("请求超过 6 秒，已被结束") and said.endswith("保留在下方。")
        assert kept_seconds(tab) > 0.1
        assert tab.page.input_value("#rv-text") == STORY


def test_a_broken_connection_says_so_and_the_page_goes_on(visit, served):
    with proxy(served.url) as between:
        tab = visit(between.url).choose("model", "joe")
        between.cut = 60_000
        tab.speak(STORY).wait("failed")
        tab.page.wait_for_timeout(1000)  # the server is asked why: for it the request was merely stopped
        assert "connection broke" in tab.page.inner_text(".rv-status")
        assert 0.5 < kept_seconds(tab) <= 60_000 / 2 / 22050
        tab.page.wait_for_selector("#rv-stop:disabled")
        last = np.abs(tab.sound().samples[-20:]).max()
        assert last < 0.3 * np.abs(tab.sound().samples).max()  # it fades, though the voice was cut
        between.cut = None
        tab.speak(LINE).wait("finished")
        assert word_error_rate(LINE, transcribe(tab.sound().samples, 22050, "en")) <= 0.1


def test_a_server_out_of_reach_is_said(visit, served):
    with proxy(served.url) as between:
        tab = visit(between.url)
        between.gone = True
        tab.speak(LINE).wait("failed")
        assert "can't be reached" in tab.page.inner_text(".rv-status")
        assert tab.page.input_value("#rv-text") == LINE


def test_a_slow_stream_pauses_instead_of_stuttering(visit, served):
    """Sound arrives at two thirds of its own pace: a few long waits, never a rattle, and no word is lost."""
    with proxy(served.url) as between:
        tab = visit(between.url).choose("model", "joe")
        between.pace = 22050 * 2 * 0.67
        tab.speak(f"{LINE} {LINE}").wait("finished")
        sound = tab.sound()
        zero = np.flatnonzero(np.diff(np.concatenate([[0], sound.samples == 0, [0]])))
        starts, ends = zero[::2], zero[1::2]
        waits = [(start, end) for start, end in zip(starts, ends) if (end - start) / sound.rate > 0.003]
        assert 1 <= len(waits) <= 8 and min(end - start for start, end in waits) / sound.rate > 0.1
        step = int(0.0005 * sound.rate)
        loud = np.abs(sound.samples).max()
        for start, end in waits:  # faded out before and in after
            assert np.abs(sound.samples[start - step:start]).max() < 0.3 * loud
            assert np.abs(sound.samples[end:end + step]).max() < 0.3 * loud
        spoken = sound.samples[sound.samples != 0]
        assert word_error_rate(f"{LINE} {LINE}", transcribe(spoken, sound.rate, "en")) <= 0.15
        first = tab.page.evaluate(DROUGHTS)
        tab.speak(f"{LINE} {LINE}").wait("finished")
        assert tab.page.evaluate(DROUGHTS) < first  # it has learnt to gather more before it begins


def test_it_works_below_a_sub_path(visit, served):
    with proxy(served.url, prefix="/voice") as between:
        tab = visit(between.url).choose("model", "joe").speak(LINE).wait("finished")
        assert word_error_rate(LINE, transcribe(tab.sound().samples, 22050, "en")) <= 0.3
        assert tab.console == [] and tab.foreign() == []
        assert all(url.startswith((between.url, "blob:", "data:")) for url in tab.asked)
