"""Where a text may be cut: paragraph, sentence, clause, phrase and word borders."""
from __future__ import annotations

import re
from collections.abc import Iterator

from models.text.scripts import kind

PARAGRAPH, SENTENCE, CLAUSE, PHRASE, WORD = 4, 3, 2, 1, 0
LISTED = 1.5  # between the members of a Chinese list: a pause, but shorter than a clause's
_JAPANESE = re.compile(r"[\u3041-\u30fa]")
ENDS = {PARAGRAPH: "paragraph", SENTENCE: "sentence", CLAUSE: "clause", PHRASE: "word", WORD: "word"}

_CLOSERS = "\"”’»」』）)\\]】》"
_STOP = re.compile(rf"[.!?…。！？｡।॥؟]+[{_CLOSERS}]*")
_PAUSE = re.compile(rf"[,;:，、；：]+[{_CLOSERS}]*|(?<=\s)[-–—]+(?=\s)|[—–]{{1,2}}|[)）」』】》](?=\s|[\u3041-\u9fff])")
_BREAK = re.compile(r"(?:\r\n|\r|\n|\u2028|\u2029|\x0b|\x0c|\x85)[ \t\r\n\u2028\u2029]*")
# never the end of a sentence; those in _NUMBERED only before a digit
_TITLES = frozenset(
    "mr mrs ms dr prof st mt ft rev gen col sgt capt lt cmdr hon sen rep gov pres supt fr sra srta dra ud uds mme mlle"
    " sig dott ing avv vs cf viz approx dept e.g i.e eg ie ca esp incl resp n.b q.v op messrs jan feb apr aug sept"
    " oct nov dec".split())
_NUMBERED = frozenset("no nos fig figs vol vols p pp art sec ch chap eq pt par ref tel ext mar jun jul sep n nr núm".split())
_MAY_END = frozenset("etc inc ltd co corp bros jr sr u.s u.k u.n e.u d.c a.m p.m ph.d b.a m.a b.c a.d al mass calif".split())
_STARTERS = frozenset(
    "the a an he she it we they i you this that these those there but and so in on at if when while as for my our his"
    " her their its what who why how then now however after before".split())
_PHRASES = re.compile(
    r"(?<=\s)(?:and|but|or|because|when|while|if|so|although|though|until|unless|since|where|whereas"
    r"|y|pero|porque|que|cuando|aunque|et|mais|parce|quand|lorsque|ma|perché|che|quando|mas|embora)(?=\s)"
    r"|(?<=[\u4e00-\u9fff])(?:但是|可是|不过|因为|所以|而且|并且|然后|如果|虽然|或者|以及|同时|因此)(?=[\u4e00-\u9fff])")
_WEAK = re.compile(
    r"(?<=\s)(?:with|without|from|into|through|between|during|about|after|before|under|over|for|to|in|on|at|by|as|of"
    r"|which|who|whose|that|than"
    r"|con|para|por|sin|desde|avec|pour|dans|sans|sur|senza|tra|com|sem|sobre|को|में|से|और|कि|लेकिन)(?=\s)")
_GLUE_BEFORE = re.compile(r"(?:[\d.,:/%)+-]+|[$€£¥₹]|(?:^|\s)[A-Z]\.|(?:^|\s)(?:[A-Za-z]\.)+)$")
_GLUE_AFTER = re.compile(r"[\d(+%°]|(?:am|pm|a\.m|p\.m|kg|km|cm|mm|g|mg|lb|lbs|mi|ft|m|s|ms|h|hrs?|min|million|billion"
                         r"|thousand|percent|AM|PM|GB|MB|KB|TB|k?Hz|mph|kph|°C|°F)\b")


def is_soft_break(before: str, after: str) -> bool:
    """Whether a single line break between two lines only wraps a sentence (as in e-mails), not ends one."""
    last, first = before.rstrip()[-1:], after.lstrip()[:1]
    if not last or not first or not (last.isalnum() or last in ",;'’)”\""):
        return False
    return first.islower() or (last in ",;" and kind(first) not in "ps")


def paragraphs(text: str) -> list[tuple[int, int, int]]:
    """(start, end, level) of each line or joined lines; level PARAGRAPH before a blank line, SENTENCE before others."""
    found, begin = [], 0
    for match in _BREAK.finditer(text):
        lines = len(re.findall(r"\r\n|[\r\n\u2028\u2029\x0b\x0c\x85]", match.group()))
        if lines < 2 and "\u2029" not in match.group():
            line = text[max(begin, match.start() - 80):match.start()]
            if is_soft_break(line, text[match.end():match.end() + 1]):
                continue
        level = PARAGRAPH if lines > 1 or "\u2029" in match.group() else SENTENCE
        found.append((begin, match.start(), level))
        begin = match.end()
    found.append((begin, len(text), SENTENCE))
    return [part for part in found if part[0] < part[1]]


def sentences(text: str, start: int, end: int) -> Iterator[int]:
    """Positions in text[start:end] right after a sentence's last mark, `end` not included."""
    line_begin = start
    for match in _STOP.finditer(text, start, end):
        if match.end() < end and _ends_sentence(text, match, line_begin, end):
            line_begin = match.end()
            yield match.end()


def _ends_sentence(text: str, match: re.Match[str], begin: int, end: int) -> bool:
    marks, at = match.group(), match.end()
    before, after = text[match.start() - 1:match.start()] if match.start() else "", text[at]
    if any(mark in "。！？｡।॥" for mark in marks):
        quoted = marks[-1] not in "。！？｡।॥.!?…"
        return not (quoted and after in "とっなのはがを的地得")
    if not after.isspace():
        asian = kind(after) in "HK" or (before and kind(before) in "HK")
        if asian:
            return not (before.isdigit() and after.isdigit()) and not set(marks) <= {"…"} and not after in "，、；："
        return marks[0] in "!?" and after.isupper() and not before.isspace()
    rest = text[at:min(end, at + 40)].lstrip()
    if not rest:
        return False
    if rest[0].islower() or rest[0] in ",;:，、；":
        return False
    if set(marks) <= {"…"} or marks.startswith("..."):
        return rest[0].isupper() or kind(rest[0]) in "HKD"
    if marks[0] != ".":
        return True
    return _period_ends(text[max(begin, match.start() - 24):match.start()], rest, match.start() - begin)


def _period_ends(before: str, rest: str, offset: int) -> bool:
    """Whether the period after `before` ends a sentence that `rest` does not belong to."""
    word = before.split()[-1].lstrip("\"“‘'([{«").lower() if before.split() else ""
    if offset <= 4 and word.rstrip(")").isdigit():  # "1. First point"
        return False
    next_word = re.split(r"[^\w'’]", rest, maxsplit=1)[0].lower()
    if word in _TITLES:
        return False
    if word in _NUMBERED:
        return not rest[0].isdigit()
    if word in _MAY_END or re.fullmatch(r"(?:[a-z]\.)+[a-z]", word):
        return next_word in _STARTERS
    if len(word) == 1 and word.isalpha() and before.rstrip()[-1].isupper() and word != "i":
        return next_word in _STARTERS - {"a", "i"}
    return True


def inner(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """(position, level) of clause and phrase borders inside the sentence text[start:end], in order."""
    found: dict[int, int] = {}
    for match in _WEAK.finditer(text, start, end):
        found[match.start()] = WORD + 0.5
    for match in _PHRASES.finditer(text, start, end):
        found[match.start()] = PHRASE
    for match in _PAUSE.finditer(text, start, end):
        if _pauses(text, match, end):
            found[match.end()] = LISTED if match.group() == "、" and not _JAPANESE.search(text, start, end) else CLAUSE
    for match in re.finditer(r"(?<=\s)[(\[（]|(?<=[\u4e00-\u9fff])（", text[start:end]):
        found[start + match.start()] = CLAUSE
    return [(at, level) for at, level in sorted(found.items()) if start < at < end and not glued(text, at)]


def _pauses(text: str, match: re.Match[str], end: int) -> bool:
    at = match.end()
    if at >= end:
        return False
    before, after = text[match.start() - 1:match.start()], text[at]
    if before.isdigit() and after.isdigit():
        return False
    if match.group()[0] in ",;:":
        if not after.isspace():
            return kind(after) in "HK" or (before != "" and kind(before) in "HK")
        rest = text[at:at + 12].lstrip()
        return not (before.isdigit() and re.match(r"\d{4}\b|\d+\s*,", rest)) and not re.match(r"(?:Jr|Sr|Inc|Ph)\b", rest)
    return True


def glued(text: str, at: int) -> bool:
    """Whether the words on both sides of the space at `at` belong together ("Dr. Smith", "5 kg", "$ 3")."""
    before, after = text[max(0, at - 16):at].rstrip(), text[at:at + 12].lstrip()
    if not before or not after:
        return False
    word = before.split()[-1]
    if word.rstrip(".").lower() in _TITLES or (word.rstrip(".").lower() in _NUMBERED and after[0].isdigit()):
        return True
    return bool(_GLUE_BEFORE.search(word) and not word[-1] in ",:)") and bool(_GLUE_AFTER.match(after)) or (
        bool(re.fullmatch(r"[A-Z]\.", word)) or word in "$€£¥₹+")
