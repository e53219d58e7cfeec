"""Use a library as if others, optional and heavy, were not installed."""
from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoints


class _Hidden:
    """A finder (`sys.meta_path`) that refuses one module to one thread: others go on importing it meanwhile."""

    def __init__(self, name: str):
        self._name, self._thread = name, threading.get_ident()

    def find_spec(self, name: str, path=None, target=None):
        if name == self._name and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{name} is hidden here", name=name)
        return None


@contextmanager
def without(name: str) -> Iterator[None]:
    """In this thread `import name` raises ModuleNotFoundError, unless the module is loaded already."""
    finder = _Hidden(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def only_extensions_of(*packages: str) -> Iterator[None]:
    """spaCy and thinc find no extension that is not of these packages: spaCy imports every one it finds, wanted or not.

    packages: import names. What is registered outside of entry points, as all that is spaCy's own, stays.
    """
    import catalogue  # the registry of both

    found = catalogue.AVAILABLE_ENTRY_POINTS
    catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints(
        one for group in found.groups for one in found.select(group=group) if one.module.split(".")[0] in packages)
    try:
        yield
    finally:
        catalogue.AVAILABLE_ENTRY_POINTS = found
