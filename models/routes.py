"""Which of the resident models speaks a text whose request leaves it open."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.errors import SpeechError

AUTO = "auto"  # what a request names as its model to leave it open
DEFAULT = "default"  # the route of languages that have none of their own
LOOKED_AT = 2000  # characters that decide a text's language


def choose(text: str, language: str, routes: Mapping[str, str], ready: Mapping[str, Sequence[str]],
           default: str) -> str:
    """The id of the model to speak `text`.

    language: "auto" or the wish of the request. routes: language tag or "default" -> model id. ready: the languages of
    each model that can take the request now, in the fleet's order. default: the server's default model.
    First the route of the text's language, then the default route, then the default model, then any other: whoever
    speaks the language, or failing that whoever is ready; with nobody ready the route itself, whose session then says
    so. Needs no model.
    """
    tag = spoken_language(text, language, [*routes, *(tag for tags in ready.values() for tag in tags)])
    wishes = [routes[name] for name in (tag, DEFAULT) if name in routes] + [default]
    order = [name for name in dict.fromkeys([*wishes, *ready]) if name in ready]
    speaking = [name for name in order if tag in ready[name]]
    return next(iter(speaking or order or wishes))


def spoken_language(text: str, language: str, known: Sequence[str]) -> str:
    """The primary tag of the wish, or else of the text among the languages `known` here; "" when nothing tells."""
    from models.text import plan_segments

    wish = language.lower().replace("_", "-").split("-")[0]
    if wish not in ("", AUTO):
        return wish
    tags = _tags(known)
    if not tags:
        return ""
    try:
        return plan_segments(text[:LOOKED_AT], AUTO, tags, LOOKED_AT, LOOKED_AT)[0]
    except SpeechError:  # nothing to read: the session that gets it says so
        return ""


def warm(known: Sequence[str]) -> None:
    """Load what telling these languages apart takes."""
    from models.text import warm_languages

    warm_languages(_tags(known))


def _tags(known: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in known if tag != DEFAULT))
