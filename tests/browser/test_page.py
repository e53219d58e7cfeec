"""The page itself: languages, keyboard, narrow screens, memory of what was typed, and good manners."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import ui

LINE = "A short line for the page."


def test_english_and_chinese_by_the_browser(visit):
    english, chinese = visit(), visit(locale="zh-CN")
    assert english.page.inner_text("#rv-speak") == "Speak" and english.page.get_attribute("html", "lang") == "en"
    assert chinese.page.inner_text("#rv-speak") == "朗读" and chinese.page.get_attribute("html", "lang") == "zh-CN"
    assert visit(locale="de-DE").page.inner_text("#rv-speak") == "Speak"
    assert "日语" in chinese.page.inner_text("#rv-language") and "Japanese" in english.page.inner_text("#rv-language")


def test_the_language_can_be_switched_and_stays(visit):
    tab = visit()
    tab.page.click(".rv-switch")
    tab.page.wait_for_selector("#rv-speak:has-text('朗读')")
    tab.page.reload()
    tab.page.wait_for_selector("#rv-speak:has-text('朗读')")
    tab.page.click("#rv-speak")
    assert tab.page.inner_text(".rv-status") == "请先输入文字。"


def test_words_that_come_late_are_the_only_ones_shown(visit):
    tab = visit(locale="zh-CN", before="""const real = window.fetch; const late = () => new Promise((go) => setTimeout(go, 400));
        window.fetch = (url, ...more) => (String(url).includes('/locales/') ? late().then(() => real(url, ...more)) : real(url, ...more));""")
    tab.page.wait_for_selector(".rv-slot", state="attached")
    tab.page.wait_for_function("document.querySelector('.rv-mine').children.length")
    words = json.loads((Path(ui.__file__).parent / "locales" / "en.json").read_text("utf-8"))
    said = tab.page.evaluate("""[...document.querySelectorAll('.rv *')].flatMap((one) => [
        ...[...one.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()),
        ...['aria-label', 'title', 'placeholder'].map((name) => one.getAttribute(name))]).filter(Boolean)""")
    assert "我的声音" in said and not set(said) & {key for key in words if "." in key}


def test_quiet_console_and_no_other_host(visit):
    tab = visit()
    tab.choose("model", "joe").speak(LINE).wait("finished")
    tab.choose("model", "kokoro").choose("language", "zh")
    tab.page.click("#rv-pool summary")
    tab.page.wait_for_selector(".rv-session")
    tab.page.reload()
    tab.page.wait_for_selector(".rv-voice-row")
    assert tab.console == [] and tab.foreign() == []


def test_keyboard_alone(visit):
    tab = visit()
    tab.page.focus("#rv-text")
    tab.page.keyboard.type(LINE)
    tab.page.keyboard.press("Control+Enter")
    tab.wait("speaking", "finished")
    tab.page.keyboard.press("Escape")
    tab.wait("stopped", "finished")
    reached = []
    tab.page.focus(".rv-switch")
    for _ in range(24):
        tab.page.keyboard.press("Tab")
        reached.append(tab.page.evaluate("document.activeElement.id || document.activeElement.className || document.activeElement.tagName"))
        outlined = tab.page.evaluate("""() => {
            const one = document.activeElement;
            if (['AUDIO', 'BODY'].includes(one.tagName)) return true; // the browser's own rings; the end of the page
            const shown = one.closest('.rv-voice') ?? one;
            const { outlineStyle, boxShadow } = getComputedStyle(shown);
            return outlineStyle !== 'none' || boxShadow !== 'none';
        }""")
        assert outlined, reached[-1]
    for wanted in ("rv-text", "rv-chip", "rv-speak", "rv-model", "rv-language", "rv-speed"):
        assert wanted in reached
    tab.page.focus("#rv-model")
    tab.page.keyboard.press("p")  # "Piper (VITS)"
    assert tab.page.input_value("#rv-model") == "joe"
    tab.page.focus("input[name='rv-voice']:checked")
    tab.page.keyboard.press("ArrowDown")
    assert tab.page.input_value("input[name='rv-voice']:checked") == "en_US-joe-medium"
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")  # its preview
    tab.wait("finished")


def test_every_control_has_a_name(visit):
    tab = visit()
    nameless = tab.page.evaluate("""() => [...document.querySelectorAll('.rv :is(button, select, textarea, input, audio, a)')]
        .filter((one) => !(one.ariaLabel || one.getAttribute('aria-label') || one.innerText || one.textContent
                           || one.labels?.[0]?.innerText))
        .map((one) => one.outerHTML)""")
    assert nameless == []


@pytest.mark.parametrize("width", [320, 400, 768])
def test_narrow_screens_do_not_scroll_sideways(visit, width):
    tab = visit(viewport={"width": width, "height": 800}).type(LINE * 20)
    tab.choose("model", "joe").speak(LINE).wait("finished")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    for control in ("#rv-text", "#rv-speak", "#rv-stop", "#rv-model", ".rv-voice-list", ".rv-clip audio", ".rv-download"):
        box = tab.page.locator(control).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width, control


def test_what_was_typed_and_chosen_survives_a_reload(visit):
    tab = visit()
    tab.choose("model", "kokoro").choose("language", "zh")
    tab.page.check("input[value='zf_xiaoxiao']", force=True)
    tab.type("还没写完的一句话")
    tab.page.reload()
    tab.page.wait_for_selector(".rv-voice-row")
    assert tab.page.input_value("#rv-text") == "还没写完的一句话"
    assert tab.page.input_value("#rv-language") == "zh"
    assert tab.page.is_checked("input[value='zf_xiaoxiao']")


def test_counter_limit_and_empty_text(visit, served):
    tab = visit()
    limit = served.get("api/models")["text_limit"]
    tab.type("wow 😀")
    assert tab.page.inner_text(".rv-count") == f"5 / {limit:,}"
    before = len(tab.asked)
    tab.type("  \n").page.click("#rv-speak")
    assert tab.page.inner_text(".rv-status") == "Please type some text first."
    assert tab.page.evaluate("document.activeElement.id") == "rv-text"
    tab.type("a" * (limit + 1)).page.click("#rv-speak")
    assert "please shorten it" in tab.page.inner_text(".rv-status")
    assert not [url for url in tab.asked[before:] if "api/stream" in url]


def test_refusals_are_said_in_the_reader_s_language(visit):
    tab = visit(locale="zh-CN").type("😀😀").choose("model", "joe")
    tab.page.click("#rv-speak")
    tab.wait("failed")
    assert re.search("没有可以朗读的内容", tab.page.inner_text(".rv-status"))
    assert tab.page.input_value("#rv-text") == "😀😀"


def test_examples_fill_the_box_and_can_be_undone(visit):
    tab = visit().type("mine")
    example = tab.page.inner_text(".rv-chip >> nth=0")
    tab.page.click(".rv-chip >> nth=0")
    assert tab.page.input_value("#rv-text") == example
    tab.page.keyboard.press("Control+Z")
    assert tab.page.input_value("#rv-text") == "mine"
    tab.choose("language", "ja")
    tab.page.wait_for_selector(".rv-chip[lang='ja']")


def test_voices_are_grouped_and_follow_model_and_language(visit):
    tab = visit().choose("model", "kokoro")
    groups = tab.page.locator(".rv-group-name").all_inner_texts()
    assert groups[:2] == ["American English", "British English"] and "Japanese" in groups
    tab.choose("language", "ja")
    assert tab.page.locator(".rv-group-name").all_inner_texts() == ["Japanese"]
    tab.choose("model", "joe")  # it speaks no Japanese
    assert tab.page.input_value("#rv-language") == "auto"
    assert tab.page.locator(".rv-preview").count() == 1


def test_the_clip_is_a_wav_with_a_sensible_name(visit):
    import io
    import wave

    tab = visit().choose("model", "joe").speak(LINE).wait("finished")
    with tab.page.expect_download() as download:
        tab.page.click(".rv-download")
    assert download.value.suggested_filename == "joe en_US-joe-medium A short line for the page.wav"
    with wave.open(io.BytesIO(open(download.value.path(), "rb").read())) as clip:
        assert (clip.getframerate(), clip.getnchannels(), clip.getsampwidth()) == (22050, 1, 2)
        assert clip.getnframes() / 22050 == pytest.approx(tab.sound().seconds, abs=0.5)
    tab.page.evaluate("document.querySelector('.rv-clip audio').play()")
    assert tab.page.evaluate("document.querySelector('.rv-clip audio').duration") == pytest.approx(clip.getnframes() / 22050, abs=0.05)


def test_readouts_are_the_server_s_own_figures(visit, served):
    tab = visit().choose("model", "joe")
    with tab.page.expect_response("**/api/stream") as asked:
        tab.speak(LINE)
    tab.wait("finished").page.wait_for_selector("[data-read='rtf']")
    figures = served.get(f"api/requests/{asked.value.headers['x-request-id']}")
    reads = {key: tab.page.inner_text(f"[data-read='{key}']") for key in ("ttfa", "rtf", "cache", "heard")}
    assert reads["ttfa"] == f"first sound {round(figures['ttfa'] * 1000):,} ms"
    assert reads["rtf"] == f"{figures['rtf']:.2f}× real time"
    assert reads["cache"] == f"cache {figures['caches']['voice_cache']}"
    assert re.fullmatch(r"you heard it after [\d,]+ ms", reads["heard"])


def test_the_pool_panel_shows_every_session(visit, served):
    tab = visit()
    tab.page.wait_for_selector(".rv-pill[data-state='ready']")
    tab.page.click(".rv-pill")
    tab.page.wait_for_selector(".rv-session")
    for session in served.get("api/pool")["sessions"]:
        text = tab.page.inner_text(f".rv-session:has(h3:has-text('{session['id']}'))")
        assert "ready" in text and "MB" in text or "GB" in text
        assert all(cache["name"] in text for cache in session["caches"])
