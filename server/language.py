"""The reader's language, for messages."""
from __future__ import annotations

from models.messages import LANGUAGES


def preferred(accept_language: str | None) -> str:
    """The best of our languages for an Accept-Language header ("zh-CN,zh;q=0.9,en;q=0.8"); English if none fits."""
    ranked = []
    for part in (accept_language or "").split(","):
        tag, _, rest = part.strip().partition(";")
        try:
            quality = float(rest.strip().removeprefix("q=") or 1.0) if rest else 1.0
        except ValueError:
            quality = 0.0
        ranked.append((quality, tag.strip().lower().split("-")[0]))
    ranked.sort(key=lambda item: -item[0])
    return next((tag for quality, tag in ranked if quality > 0 and tag in LANGUAGES), "en")
