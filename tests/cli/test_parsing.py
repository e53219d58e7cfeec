"""Two threads that parse at once, as Gradio's import and NumPy's reading do during a start."""
from __future__ import annotations

import ast
import subprocess
import sys

from tests.served import ROOT

# a garbage collection in the middle of building the tree lets the other threads in
RACE = """
import ast, gc, sys, threading, time
from cli.parsing import one_parse_at_a_time
if sys.argv[1] == "one":
    one_parse_at_a_time()
gc.callbacks.append(lambda *about: time.sleep(0))
gc.set_threshold(100)
texts = ["def f(a, b=[1, 2, {3: 4}]):\\n    return [a + b for a in b if a]\\n" * 50, "[1, (2, (3, (4, 5)))]"]
failed = []

def work(text):
    try:
        for _ in range(40):
            ast.parse(text)
    except SystemError as error:
        failed.append(error)

threads = [threading.Thread(target=work, args=(texts[number % 2],)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(bool(failed))
"""


def test_threads_parse_one_after_another():
    assert subprocess.run([sys.executable, "-c", RACE, "one"], cwd=ROOT).returncode == 0


def test_parsing_is_as_before():
    from cli.parsing import one_parse_at_a_time

    one_parse_at_a_time()
    assert ast.dump(ast.parse("1 + 1", mode="eval")) == ast.dump(compile("1 + 1", "<unknown>", "eval", ast.PyCF_ONLY_AST))
    assert ast.literal_eval("[1, 'a']") == [1, "a"]
