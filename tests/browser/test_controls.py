"""The page builds a model's controls from their declarations, keeps them per model, and sends what was set."""
from __future__ import annotations

import json
import re

import numpy as np
import pytest

from models.families import REGISTRY, family
from tests.checkpoints.make_voxcpm import tiny
from tests.served import serve

LINE = "A short line for the page."


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """A product with joe and a VoxCPM 2 of random weights, which has a control of every kind."""
    folder = tmp_path_factory.mktemp("studio")
    checkpoint = tiny(folder / "checkpoint", "2")
    config = folder / "config.toml"
    config.write_text('[[models]]\nid = "joe"\nfamily = "vits"\n[[models]]\nid = "vox"\nfamily = "voxcpm"\n'
                      f'path = "{checkpoint}"\ndevice = "cpu"\nprecision = "float32"\n')
    with serve(config) as running:
        yield running


def more(tab, model):
    tab.choose("model", model)
    if not tab.page.evaluate("document.querySelector('.rv-more').open"):
        tab.page.click(".rv-more > summary")
    return tab


def slide(tab, name, value):
    """As a hand would: to the value, with the event the browser sends."""
    tab.page.locator(f"#rv-control-{name}").fill(str(value))


def sent(tab, text=LINE):
    with tab.page.expect_request("**/api/stream") as asked:
        tab.speak(text)
    tab.wait("finished")
    return json.loads(asked.value.post_data)


def test_a_changed_control_reaches_the_sound(visit, served):
    tab = more(visit(), "joe")
    assert sent(tab)["options"] == {}
    slide(tab, "noise_scale", 0.1)
    body = sent(tab)
    assert body["options"] == {"noise_scale": 0.1} and body["model"] == "joe"
    heard = [np.frombuffer(served.post("api/stream", {"text": LINE, "model": "joe", "seed": 3, "options": options}).read(), "<i2")
             for options in ({}, body["options"], body["options"])]
    assert np.array_equal(heard[1], heard[2])
    assert len(heard[0]) != len(heard[1]) or not np.array_equal(heard[0], heard[1])


def test_what_was_set_is_kept_per_model_and_over_a_reload(visit, studio):
    tab = more(visit(studio.url), "vox")
    slide(tab, "cfg_value", 3.0)
    tab.page.fill("#rv-control-instruction", "a calm old man")
    tab.page.uncheck("#rv-control-normalise")
    tab.page.select_option("#rv-control-cloning", "reference")
    more(tab, "joe")
    assert tab.page.locator(".rv-control").count() == len(family("vits").controls)
    slide(tab, "noise_w", 0.5)
    tab.page.reload()
    tab.page.wait_for_selector(".rv-voice-row")
    assert sent(tab)["options"] == {"noise_w": 0.5}
    more(tab, "vox")
    assert tab.page.input_value("#rv-control-instruction") == "a calm old man"
    assert not tab.page.is_checked("#rv-control-normalise")
    wanted = {"cfg_value": 3, "instruction": "a calm old man", "normalise": False, "cloning": "reference"}
    assert sent(tab, "Hi.")["options"] == wanted
    for name in wanted:
        tab.page.click(f".rv-control:has(#rv-control-{name}) .rv-reset")
    assert sent(tab, "Hi.")["options"] == {}


def test_every_declared_control_is_there_with_name_range_and_help(visit, studio):
    for locale, language in (("en-GB", "en"), ("zh-CN", "zh")):
        tab = more(visit(studio.url, locale=locale), "vox")
        for name, option in family("voxcpm").controls.items():
            field = tab.page.locator(f"#rv-control-{name}")
            assert field.evaluate("one => one.labels[0].querySelector('span').textContent") == option.label[language]
            described = field.get_attribute("aria-describedby")
            assert tab.page.inner_text(f"#{described}") == option.help[language]
            if option.low is not None:
                assert (float(field.get_attribute("min")), float(field.get_attribute("max"))) == (option.low, option.high)
        assert tab.page.inner_text("output[for=rv-control-cfg_value]") == "2.00"
        tick = tab.page.evaluate("getComputedStyle(document.querySelector('#rv-control-normalise')).appearance")
        assert tick == "auto"  # Gradio's own style would draw an empty box, ticked or not
        assert tab.console == []


def test_by_keyboard(visit, studio):
    tab = visit(studio.url).choose("model", "joe")
    tab.page.focus(".rv-more > summary")
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("document.activeElement.id") == "rv-control-noise_scale"
    assert tab.page.get_attribute("#rv-control-noise_scale", "aria-valuetext") == "automatic"
    tab.page.keyboard.press("Home")
    tab.page.keyboard.press("ArrowRight")
    assert sent(tab)["options"] == {"noise_scale": 0.02}
    tab.page.focus("#rv-control-noise_scale")
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")  # its reset
    assert tab.page.evaluate("document.activeElement.id") == "rv-control-noise_scale"
    assert sent(tab)["options"] == {}


@pytest.mark.parametrize("width", [320, 400])
def test_narrow_screens(visit, studio, width):
    tab = more(visit(studio.url, viewport={"width": width, "height": 800}), "vox")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    for name in family("voxcpm").controls:
        box = tab.page.locator(f"#rv-control-{name}").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width, name


def test_a_model_without_controls_shows_no_section(visit):
    assert not visit().choose("model", "kokoro").page.is_visible(".rv-more")


def test_a_stored_value_the_model_no_longer_takes_is_dropped(visit, studio):
    kept = json.dumps({"model": "joe", "options": {"joe": {"noise_scale": 9, "noise_w": 0.5, "gone": 1, "constructor": 1}}})
    tab = visit(studio.url, before=f"localStorage.setItem('readyvoice.choice', {json.dumps(kept)})")
    assert sent(tab)["options"] == {"noise_w": 0.5}


def test_a_voice_the_model_chooses_reads_well(visit, studio):
    for locale, says in (("en-GB", "Chosen by the model"), ("zh-CN", "由模型决定")):
        tab = visit(studio.url, locale=locale).choose("model", "vox")
        assert tab.page.inner_text(".rv-voice-list").strip() == says
        tab.choose("language", "zh")
        assert tab.page.inner_text(".rv-voice-list").strip() == says and tab.page.is_checked("input[name='rv-voice']")
        with tab.page.expect_request("**/api/stream") as asked:
            tab.page.click(".rv-preview")
        body = json.loads(asked.value.post_data)
        assert body["voice"] == "own" and body["language"] == "zh" and re.search("[\u4e00-\u9fff]", body["text"])
        tab.wait("finished")


def test_every_control_speaks_both_languages():
    for name in REGISTRY:
        for control in family(name).controls.values():
            for words in (control.label, control.help):
                assert words["en"] and words["zh"] and set(words) == {"en", "zh"}
