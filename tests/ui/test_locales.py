"""The page's words exist in every language, with the same placeholders, and every word used exists."""
from __future__ import annotations

import json
import re
from pathlib import Path

UI = Path(__file__).resolve().parents[2] / "ui"
WORDS = {name: json.loads((UI / "locales" / f"{name}.json").read_text("utf-8")) for name in ("en", "zh")}
STATES = ("registered", "loading", "warming", "ready", "failed", "unloaded")


def test_both_languages_have_the_same_words():
    assert WORDS["en"].keys() == WORDS["zh"].keys()


def test_placeholders_agree():
    for key, text in WORDS["en"].items():
        assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", WORDS["zh"][key])), key


def test_every_word_used_is_there():
    used = {f"pool.state.{state}" for state in STATES} | {f"pool.{state}" for state in ("ready", "warming", "part", "away")}
    for file in (*UI.rglob("*.js"), *UI.rglob("*.html")):
        text = file.read_text("utf-8")
        used |= set(re.findall(r"""\bt\(\s*'([\w.]+)'""", text))
        if file.suffix == ".html":
            used |= set(re.findall(r'data-t(?:-[\w-]+)?="([\w.]+)"', text))
        used |= set(re.findall(r"'((?:error|pool|status|read|voice|keys)\.[\w.]+)'", text))
    assert used <= WORDS["en"].keys()
    assert len(used) > 50


def test_every_language_of_the_fleet_has_a_sentence_to_preview():
    sentences = json.loads((UI / "locales" / "sentences.json").read_text("utf-8"))
    assert sentences["preview"].keys() == sentences["examples"].keys()
    assert all(len(examples) >= 2 for examples in sentences["examples"].values())
