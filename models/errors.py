"""Errors a person can act on: one code, the field at fault, and a sentence in the reader's language."""
from __future__ import annotations

from models.messages import LANGUAGES, MESSAGES


class SpeechError(Exception):
    """A request or a set-up that can't be served, said in one clear sentence.

    code: a key of `models.messages.MESSAGES`; params fill the sentence's placeholders (a param that is a dict holds
    a phrase per language).
    field: the request field or configuration key at fault, if there is one.
    """

    def __init__(self, code: str, field: str | None = None, **params: object):
        self.code, self.field, self.params = code, field, params
        super().__init__(self.sentence("en"))

    def __reduce__(self) -> tuple:
        """So that it passes from process to process."""
        return _again, (self.code, self.field, self.params)

    @property
    def status(self) -> int:
        """The HTTP status that fits: 4xx for the caller's faults, 503 for ours that pass, 500 for the rest."""
        return MESSAGES[self.code]["status"]

    def sentence(self, language: str = "en") -> str:
        """The message in `language` ("en", "zh"; others read English)."""
        texts = MESSAGES[self.code]
        template = texts[language if language in LANGUAGES else "en"]
        return template.format(**{name: _spoken(value, language) for name, value in self.params.items()})


def _again(code: str, field: str | None, params: dict[str, object]) -> SpeechError:
    return SpeechError(code, field, **params)


def _spoken(value: object, language: str) -> str:
    if isinstance(value, SpeechError):  # a sentence that ends with another one
        return value.sentence(language).removesuffix(".").removesuffix("。")
    if isinstance(value, dict):  # a phrase given once per language
        return str(value.get(language, value["en"]))
    if isinstance(value, (list, tuple, set)):
        return ", ".join(str(item) for item in value)
    return str(value)


def first_line(error: Exception) -> str:
    """What somebody else's exception says, in one line for a sentence of ours; its kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
