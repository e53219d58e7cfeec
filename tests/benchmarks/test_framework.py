from __future__ import annotations

import json
import os

import pytest

from benchmarks.__main__ import catalogue, main
from benchmarks.common import Result, alternate, machine
from benchmarks.peer import Peer
from benchmarks.sentences import ENGLISH


def test_without_a_name_all_are_listed(capsys):
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert {"ttfa-vits", "rtf-vits"} <= set(catalogue())
    assert all(name in shown and text for name, text in catalogue().items())


def test_an_unknown_name_gets_the_nearest(capsys):
    assert main(["ttfa-vit"]) == 2
    assert "did you mean ttfa-vits" in capsys.readouterr().err


def test_sides_take_turns_and_the_first_round_does_not_count():
    calls = []
    taken = alternate({"a": lambda: calls.append("a") or len(calls), "b": lambda: calls.append("b") or len(calls)}, 3)
    assert "".join(calls) == "baabbaab"
    assert taken == {"a": [3, 6, 7], "b": [4, 5, 8]}


def test_a_result_as_table_and_json():
    result = Result("x", 0.25, {"ms": 10.0}, {"other": {"ms": 40.0}}, ("engine", "ms"), [("ours", 10.0), ("other", 40.0)],
                    "0.3 x", {"ours": [10.0]})
    report = json.loads(json.dumps(result.report()))
    assert {"name", "ratio", "ours", "peers", "machine", "samples"} <= set(report)
    lines = result.table().splitlines()
    assert lines[0].split() == ["engine", "ms"] and lines[2].split() == ["ours", "10.0"]
    assert "x: 0.250 x (target: 0.3 x)" in lines


def test_the_machine_is_described():
    about = machine()
    assert about["cores"] == os.cpu_count() and about["memory"].endswith("GiB") and about["cpu"]


def test_the_sentences_have_no_digits_and_the_lengths_they_should():
    lengths = [len(text.split()) for text in ENGLISH]
    assert len(ENGLISH) == 12 and min(lengths) == 5 and max(lengths) == 40
    assert not any(char.isdigit() for text in ENGLISH for char in text)


def test_a_peer_answers_line_by_line_and_its_end_is_noticed(tmp_path, monkeypatch):
    import sys
    from pathlib import Path

    script = tmp_path / "echo.py"
    script.write_text("import sys, json\nfor line in sys.stdin:\n"
                      "    if 'stop' in line: sys.exit(3)\n    print(json.dumps({'got': json.loads(line)}), flush=True)\n")
    monkeypatch.setattr("benchmarks.peer.SCRIPTS", tmp_path)
    with Peer(Path(sys.executable), "echo.py", {"a": 1}) as peer:
        assert peer.about == {"got": {"a": 1}}
        assert peer.ask({"b": "ä"}) == {"got": {"b": "ä"}}
        with pytest.raises(RuntimeError, match="status 3"):
            peer.ask({"stop": True})
