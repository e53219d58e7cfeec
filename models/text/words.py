"""Word borders, also where nothing is written between words."""
from __future__ import annotations

import re
from functools import lru_cache

from models.text.borders import glued
from models.text.scripts import kind

@lru_cache(maxsize=1)
def chinese():
    """jieba's words (its dictionary and algorithm in Rust: a tenth of the load time, half of the memory)."""
    import rjieba

    rjieba.cut("中文")
    return rjieba


@lru_cache(maxsize=1)
def japanese():
    """BudouX's parser: phrases (bunsetsu) of a Japanese text, at whose borders a speaker may pause."""
    import budoux

    return budoux.load_default_japanese_parser()


def word_borders(text: str, start: int, end: int, japanese_text: bool) -> list[int]:
    """Positions inside text[start:end] where no word is cut in half. `start` must itself be a border."""
    found = set()
    for match in re.finditer(r"\s+", text[start:end]):
        if not glued(text, start + match.end()):
            found.add(start + match.end())
    for match in re.finditer(r"[\u3041-\u30ff\u3400-\u9fff々〇]+", text[start:end]):
        piece, at = match.group(), start + match.start()
        if at > start and not text[at - 1].isdigit() and kind(text[at - 1]) != "N":
            found.add(at)
        parts = japanese().parse(piece) if japanese_text else chinese().cut(piece)
        for part in parts:
            at += len(part)
            found.add(at)
        if at < len(text) and (text[at] in "，、。；：！？,.!?;:)）」』】”’…—" or text[at].isdigit()):
            found.discard(at)
    return sorted(at for at in found if start < at < end)
