"""From a text to the segments that are spoken one after another."""
from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import accumulate

from models.errors import SpeechError
from models.text.borders import CLAUSE, ENDS, PARAGRAPH, PHRASE, SENTENCE, WORD, inner, paragraphs, sentences
from models.text.language import Chooser
from models.text.runs import language_runs
from models.text.scripts import describe, kinds
from models.text.segment import Run, Segment
from models.text.words import word_borders

_NOT_LETTERS = frozenset("Nepsmw")
_LATIN_WORD = 1.3  # Chinese characters a Latin word (or address) counts for, when the main language is chosen
_LETTERS = re.compile(r"\S*[^\W\d_]\S*")
# how many first budgets a sentence must weigh to be cut early at such a border: the less of a pause, the longer
_FIRST_CUTS = ((CLAUSE, 1.3), (PHRASE, 1.7), (WORD, 2.5))
_SHORTEST = 10  # weight below which a piece is a scrap: a word or two


@dataclass
class _Piece:
    """text[start:end] with one choice of languages; level of the border at its end."""

    start: int
    end: int
    level: float
    choice: dict[str, str]


def plan_segments(text: str, language: str, supported: tuple[str, ...], first_limit: int,
                  limit: int) -> tuple[str, list[Segment]]:
    """The text's main language and its segments, in order; together they hold all that can be spoken.

    language: "auto" or one of `supported` (a region as in "en-gb" is allowed). first_limit, limit: budgets of the
    first and of every other segment in characters; Chinese and Japanese characters and digits count as three.
    Segments may go over the budget where there is no good place to cut. Needs no model; safe from any thread.
    Raises SpeechError: text_empty, text_unspeakable, language_unsupported.
    """
    wish = _checked_language(language, supported)
    if not text.strip():
        raise SpeechError("text_empty", field="text")
    found = kinds(text)
    chooser = Chooser(text, wish, supported)
    whole = chooser.sentence(text, found)
    letters = set(found) - _NOT_LETTERS
    if not (letters & whole.keys()) and (letters or "N" not in found):
        raise SpeechError("text_unspeakable", field="text", what=describe("".join(letters) or found))
    fallback = _main_language(found, whole, wish, chooser.default_latin or supported[0])
    splitter = _Splitter(text, found, first_limit, limit)
    groups = splitter.groups(_sentences(text, found, chooser))
    segments = []
    for group in groups:
        runs = _merge(run for piece in group for run in language_runs(
            text[piece.start:piece.end], found[piece.start:piece.end], piece.choice, fallback))
        start, end = group[0].start, group[-1].end
        segments.append(Segment(len(segments), text[start:end], start, end, runs, ENDS[math.floor(group[-1].level + 0.5)]))
    return _heaviest(segments, wish, fallback), segments


def _checked_language(language: str, supported: tuple[str, ...]) -> str:
    wish = (language or "auto").lower().replace("_", "-").split("-")[0]
    if wish != "auto" and wish not in supported:
        raise SpeechError("language_unsupported", field="language", language=language, choices=supported,
                          model={"en": "This model", "zh": "该模型"})
    return wish


def _main_language(found: str, choice: dict[str, str], wish: str, default: str) -> str:
    if wish != "auto":
        return wish
    counts = {code: found.count(code) for code in choice}
    return choice[max(counts, key=counts.get)] if counts else default


def _heaviest(segments: list[Segment], wish: str, default: str) -> str:
    if wish != "auto":
        return wish
    totals: dict[str, float] = {}
    for segment in segments:
        for run in segment.runs:
            asian = run.language in ("zh", "ja")
            size = sum(char.isalpha() for char in run.text) if asian else _LATIN_WORD * len(_LETTERS.findall(run.text))
            totals[run.language] = totals.get(run.language, 0) + size
    return max(totals, key=lambda name: (totals[name], name in ("zh", "ja"))) if any(totals.values()) else default


def _merge(runs) -> tuple[Run, ...]:
    merged: list[Run] = []
    for run in runs:
        if merged and merged[-1].language == run.language:
            merged[-1] = Run(merged[-1].text + run.text, run.language)
        else:
            merged.append(run)
    return tuple(merged)


def _sentences(text: str, found: str, chooser: Chooser) -> list[_Piece]:
    """The sentences that hold something to speak; a silent one ("***") only hands on its border."""
    pieces: list[_Piece] = []
    for start, end, level in paragraphs(text):
        at = start
        for cut in [*sentences(text, start, end), end]:
            left = at + len(text[at:cut]) - len(text[at:cut].lstrip())
            right = left + len(text[left:cut].rstrip())
            border = level if cut == end else SENTENCE
            choice = chooser.sentence(text[left:right], found[left:right])
            if choice or "N" in found[left:right]:
                pieces.append(_Piece(left, right, border, choice))
            elif pieces:
                pieces[-1].level = max(pieces[-1].level, border)
            at = cut
    return pieces


class _Splitter:
    def __init__(self, text: str, found: str, first_limit: int, limit: int):
        self.text, self.found = text, found
        self.limit, self.first_limit = max(limit, 12), max(min(first_limit, limit), 12)
        self._total = [0, *accumulate(3 if code in "HKN" else 1 for code in found)]

    def weight(self, start: int, end: int) -> int:
        return self._total[end] - self._total[start]

    def groups(self, pieces: list[_Piece]) -> list[list[_Piece]]:
        """Pieces that are spoken together: long sentences split, short ones joined within the budget."""
        groups: list[list[_Piece]] = []
        for number, sentence in enumerate(pieces):
            for piece in self._split(sentence, first=number == 0):
                last = groups[-1] if groups else None
                if last and self._joins(last, piece, len(groups) == 1):
                    last[-1].end = piece.start  # the space between belongs to the piece before it
                    last.append(piece)
                else:
                    groups.append([piece])
        return groups

    def _joins(self, group: list[_Piece], piece: _Piece, first: bool) -> bool:
        if group[-1].level < SENTENCE or group[-1].level >= PARAGRAPH:
            return False
        total = self.weight(group[0].start, piece.end)
        if first:
            scrap = self.weight(group[0].start, group[-1].end) < 2 * _SHORTEST
            return total <= (self.limit if scrap and piece.level >= SENTENCE else self.first_limit)
        return total <= self.limit

    def _split(self, sentence: _Piece, first: bool) -> list[_Piece]:
        pieces, start = [], sentence.start
        if first and self.weight(start, sentence.end) > _FIRST_CUTS[0][1] * self.first_limit:
            cut = self._cut_first(start, sentence.end)
            if cut and cut[0] < sentence.end:
                start = self._add(pieces, sentence, start, *cut)
        while (left := self.weight(start, sentence.end)) > self.limit:
            target = left / math.ceil(left / self.limit)
            cut = self._best(start, sentence.end, 0.5 * target, target, self.limit)
            start = self._add(pieces, sentence, start, *cut)
        pieces.append(_Piece(start, sentence.end, sentence.level, sentence.choice))
        return [piece for piece in pieces if set(self.found[piece.start:piece.end]) & ({"N"} | piece.choice.keys())]

    def _add(self, pieces: list[_Piece], sentence: _Piece, start: int, at: int, level: float) -> int:
        pieces.append(_Piece(start, start + len(self.text[start:at].rstrip()), level, sentence.choice))
        while at < sentence.end and self.text[at].isspace():
            at += 1
        return at

    def _cut_first(self, start: int, end: int) -> tuple[int, float] | None:
        """Where the first sentence may be cut early, best where a speaker would pause; None to leave it whole."""
        low, high = 0.3 * self.first_limit, 1.4 * self.first_limit
        fits = [(at, level) for at, level in inner(self.text, start, min(end, start + int(high) + 2))
                if low <= self.weight(start, at) <= high and not self._scrap(start, at) and not self._scrap(at, end)]
        whole = self.weight(start, end)
        for floor, least in _FIRST_CUTS:
            best = [cut for cut in fits if cut[1] >= floor]
            if best and whole > least * self.first_limit:
                return min(best, key=lambda cut: abs(self.weight(start, cut[0]) - 0.9 * self.first_limit))
        if whole <= min(_FIRST_CUTS[-1][1] * self.first_limit, self.limit):
            return None
        return self._best(start, end, low, 0.9 * self.first_limit, 1.3 * self.first_limit)

    def _scrap(self, start: int, end: int) -> bool:
        if end - start > 48:
            return False
        piece = self.text[start:end]
        return self.weight(start, end) < _SHORTEST or (piece.isascii() and len(piece.split()) < 3)

    def _best(self, start: int, end: int, low: float, target: float, high: float) -> tuple[int, float]:
        """The best cut whose piece weighs at most `high`: the strongest border near `target`, else a word border."""
        stop = start + 1
        while stop < end and self.weight(start, stop + 1) <= high:
            stop += 1
        near = [(at, level) for at, level in inner(self.text, start, min(end, stop + 2)) if at <= stop]
        for floor, room in ((CLAUSE, low), (PHRASE, low), (WORD, max(low, 0.6 * target))):
            fits = [cut for cut in near if cut[1] >= floor and self.weight(start, cut[0]) >= room]
            fits = [cut for cut in fits if not self._scrap(cut[0], end)] or fits
            if fits:
                return min(fits, key=lambda cut: abs(self.weight(start, cut[0]) - target))
        japanese = "K" in self.found[start:stop]
        borders = [at for at in word_borders(self.text, start, min(end, stop + 10), japanese) if start < at <= stop]
        if borders:
            return min(borders, key=lambda at: abs(self.weight(start, at) - target)), WORD
        spaces = [match.end() for match in re.finditer(r"\s+", self.text[start:min(end, start + 2 * self.limit)])]
        before = [start + at for at in spaces if start + at <= stop]
        if before:  # words that belong together, but too many of them
            return before[-1], WORD
        after = start + spaces[0] if spaces else end
        if self.weight(start, after) <= self.limit:
            return after, WORD
        return self._inside(start, end, stop), WORD

    def _inside(self, start: int, end: int, stop: int) -> int:
        """For an unbroken string longer than any budget (a web address, a key mash): after a mark if there is one."""
        for at in range(stop, start + 1, -1):
            if self.text[at - 1] in "/?&=-_.,;:":
                return at
        while stop < end and self.found[stop] == "m":
            stop += 1
        return min(max(stop, start + 1), end)
