"""Python's own parser, made safe for the threads of a start."""
from __future__ import annotations

import ast
import functools
import threading


def one_parse_at_a_time() -> None:
    """CPython up to 3.12 raises SystemError ("recursion depth mismatch", python/cpython#106905) when two threads are in
    `ast.parse` at once. Gradio parses its components while it is imported, NumPy the header of each file it reads."""
    if not hasattr(ast.parse, "__wrapped__"):
        parse, lock = ast.parse, threading.RLock()

        @functools.wraps(parse)
        def parse_alone(*arguments, **options):
            with lock:
                return parse(*arguments, **options)

        ast.parse = parse_alone
