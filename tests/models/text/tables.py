"""The tables of everyday cases: what is written, how a careful newsreader says it, and the kind of case."""
from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    written: str
    readings: tuple[str, ...]
    category: str


def cases(language: str) -> list[Case]:
    lines = (Path(__file__).parent / f"cases_{language}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [Case(written, tuple(readings.split("|")), category) for written, readings, category in rows]


def folded(text: str) -> str:
    """Without case, punctuation and doubled spaces: what is left is what is said."""
    text = unicodedata.normalize("NFKC", text).lower().replace("〇", "零").replace("'", "").replace("’", "")
    text = "".join(" " if unicodedata.category(char)[0] in "PS" else char for char in text)
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r" ?([\u3000-\u9fff]) ?", r"\1", text)
