"""Mixes by slider, and voices side by side and blind."""
from __future__ import annotations

import json

from models.families.kokoro.voices import PART

LINE = "A short line for the page."


def asked(tab, click) -> dict:
    """The speech request that a click sends."""
    with tab.page.expect_request("**/api/stream") as request:
        click()
    return json.loads(request.value.post_data)


def over(tab) -> None:
    tab.page.wait_for_function("!document.querySelector('.rv-slot.rv-on')", timeout=60_000)


def test_sliders_make_a_voice_that_stays(visit):
    tab = visit()
    tab.page.click(".rv-mixer > summary")
    tab.page.wait_for_selector(".rv-mix-row:nth-child(2)")
    tab.page.locator(".rv-mix-row:nth-child(1) select").select_option("af_heart")
    tab.page.locator(".rv-mix-row:nth-child(2) select").select_option("am_michael")
    tab.page.locator(".rv-mix-row:nth-child(1) input").fill("9")
    tab.page.click(".rv-mix-add")
    tab.page.locator(".rv-mix-row:nth-child(3) select").select_option("bm_george")
    assert tab.page.locator(".rv-mix-row:nth-child(3) option[value=af_heart]").is_disabled()
    wanted = "af_heart(9)+am_michael(5)+bm_george(5)"
    assert all(PART.fullmatch(part) for part in wanted.split("+"))
    tab.type(LINE)
    assert asked(tab, lambda: tab.page.click("#rv-speak"))["voice"] == wanted
    tab.wait("finished")
    tab.page.reload()
    tab.page.wait_for_selector(".rv-voice:has-text('Your mix') input:checked", state="attached")
    assert asked(tab, lambda: tab.page.click("#rv-speak"))["voice"] == wanted
    tab.wait("finished")
    tab.page.check("input[name='rv-voice'][value='af_bella']", force=True)
    assert asked(tab, lambda: tab.page.click("#rv-speak"))["voice"] == "af_bella"
    tab.choose("model", "joe")
    assert tab.page.is_hidden(".rv-mixer")


def test_side_by_side_and_blind(visit):
    tab = visit()
    tab.page.click("#rv-tab-compare")
    tab.page.fill(".rv-compare-text", LINE)
    slots = tab.page.locator(".rv-slot")
    slots.nth(0).locator("select").nth(1).select_option("am_michael")
    for index, (model, voice) in enumerate([("kokoro", "am_michael"), ("joe", "")]):
        body = asked(tab, slots.nth(index).locator(".rv-second").click)
        assert (body["model"], body["voice"], body["text"], body["seed"]) == (model, voice, LINE, 1)
        over(tab)
        assert "first sound" in slots.nth(index).inner_text()
    with tab.page.expect_request(lambda request: "joe" in (request.post_data or "")):
        tab.page.click(".rv-all")  # one after the other
    over(tab)

    tab.page.click(".rv-blind")
    heard = {}
    for side in ("0", "1"):
        assert tab.page.is_disabled("[data-vote='0']")
        heard[side] = asked(tab, lambda: tab.page.click(f"[data-side='{side}']"))["model"]
        assert not tab.page.locator(".rv-slot.rv-on").count()  # nothing tells which one it is
    assert set(heard.values()) == {"kokoro", "joe"}
    tab.page.click("[data-vote='1']")
    told = tab.page.inner_text(".rv-compare-status")
    assert told.index(f"A was {heard['0']}") < told.index(f"B was {heard['1']}")
    tab.page.reload()
    tab.page.wait_for_selector(".rv-tally dl > div:nth-child(2)")
    rows = {row.split("\n")[0].split(" ")[0]: row for row in tab.page.locator(".rv-tally dl > div").all_inner_texts()}
    assert "won 1 of 1" in rows[heard["1"]] and "won 0 of 1" in rows[heard["0"]]
    tab.page.click(".rv-tally-clear")
    assert tab.page.is_hidden(".rv-tally")
    assert tab.console == []
