"""The pool: all sessions, by id."""
from __future__ import annotations

import time
from collections.abc import Callable

from models.config import Config, nearest
from models.errors import SpeechError
from models.events import SpeechRequest
from models.families import family
from models.families.options import described
from models.families.protocol import Voice
from models.memory import resident_bytes
from models.metrics import MetricsBook
from models.routes import AUTO, choose
from models.session import Session


class Pool:
    """Builds every session of a configuration; `start` loads the eager ones, all at the same time.

    watch: told with (session, line) on state changes and warm-up stages, from the sessions' threads.
    """

    def __init__(self, config: Config, watch: Callable[[Session, str], None] = lambda session, line: None):
        self.config = config
        self.book = MetricsBook()
        self.began = time.monotonic()
        self.sessions = {spec.id: Session(spec, self.book, watch) for spec in config.models}

    def start(self) -> None:
        """Load every eager session, each on its own thread; returns at once."""
        for session in self.sessions.values():
            if not session.spec.lazy:
                session.start()

    def wait_ready(self, timeout: float | None = None) -> None:
        """Until every eager session is ready. Raises the first one's SpeechError when one fails."""
        for session in self.sessions.values():
            if not session.spec.lazy:
                session.wait_ready(timeout)

    @property
    def ready(self) -> bool:
        """True only while every eager session can take requests."""
        return all(session.state == "ready" for session in self.sessions.values() if not session.spec.lazy)

    def session(self, model_id: str = "") -> Session:
        """The session by id, "" for the default one. Raises SpeechError("model_unknown")."""
        name = model_id or self.config.server.default_model
        if name not in self.sessions:
            raise SpeechError("model_unknown", "model", name=name + nearest(name, self.sessions), choices=list(self.sessions))
        return self.sessions[name]

    def session_for(self, request: SpeechRequest) -> Session:
        """The session a request names, or for the model "auto" the one its language is routed to (see `models.routes`)
        among those that are ready and, for a request with a clip, clone. Raises SpeechError("model_unknown")."""
        if request.model != AUTO:
            return self.session(request.model)
        ready = {name: session.model.languages for name, session in self.sessions.items()
                 if session.state == "ready" and (request.clip is None or _clones(session))}
        return self.session(choose(request.text, request.language, self.config.routes, ready,
                                   self.config.server.default_model))

    def states(self) -> dict[str, str]:
        return {name: session.state for name, session in self.sessions.items()}

    def report(self) -> dict:
        """What /api/pool answers: per session its state, times, memory, queue and caches."""
        return {
            "ready": self.ready, "uptime": time.monotonic() - self.began, "resident_bytes": resident_bytes(),
            "sessions": [session.report() for session in self.sessions.values()],
        }

    def catalog(self) -> dict:
        """What /api/models answers: every model with its voices; the page's choices come from here too."""
        return {
            "default": self.config.server.default_model,
            "text_limit": self.config.server.text_limit,
            "models": [self._entry(session) for session in self.sessions.values()],
        }

    def _entry(self, session: Session) -> dict:
        about = family(session.spec.family)
        entry = {"id": session.spec.id, "title": about.title, "family": about.name, "licence": about.licence,
                 "state": session.state,
                 "controls": {name: described(option) for name, option in about.controls.items()},
                 "clones": about.clones, "sample_rate": None, "languages": [], "voices": [], "default_voice": {}}
        if session.state == "ready":
            model = session.model
            voices = [_shown(voice) for voice in model.voices()]
            entry |= {"sample_rate": model.sample_rate, "languages": list(model.languages), "voices": voices,
                      "default_voice": {language: model.default_voice(language) for language in model.languages}}
        return entry

    def close(self) -> None:
        """End every session; streams are told."""
        for session in self.sessions.values():
            session.close()


def _clones(session: Session) -> bool:
    """A family may clone with some of its checkpoints only; then its model says so."""
    return getattr(session.model, "clones", family(session.spec.family).clones)


def _shown(voice: Voice) -> dict:
    """A voice as the API tells it: `name` in English, and `names` where it is another in each language."""
    names = voice.name
    return vars(voice) if isinstance(names, str) else {**vars(voice), "name": names["en"], "names": dict(names)}
