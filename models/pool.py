"""The pool: all sessions, by id."""
from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from models import routes
from models.admission import Admission
from models.budget import Budget, need_of
from models.config import Config, nearest
from models.errors import SpeechError
from models.events import SpeechRequest
from models.families import family
from models.families.options import described
from models.families.protocol import ModelSpec
from models.life import STATES
from models.memory import resident_bytes
from models.metrics import MetricsBook
from models.session import Session
from models.voices import saved
from models.watchdog import Watchdog


class Pool:
    """Builds every session of a configuration; `start` loads the eager ones that fit, all at the same time.

    watch: told with (session, line) on state changes, warm-up stages, "deferred" and "evicted", from several threads.
    aside: bytes of memory that the process will need for other things.
    `swap`, `add`, `remove` and `models.reload` change it while it serves.
    """

    def __init__(self, config: Config, watch: Callable[[Session, str], None] = lambda session, line: None,
                 aside: int = 0):
        self.config = config
        self.book = MetricsBook()
        self.began = time.monotonic()
        self._versions = itertools.count(1)
        self.version = 0  # another one whenever the catalogue may have changed
        self.reloads: dict = {"count": 0, "problems": []}  # of the configuration, and what the last one left undone
        self.changing = threading.RLock()  # held while sessions come and go
        self.leaving: list[Session] = []  # no longer offered, but not ended or not offered yet
        self._watch, self._closed = watch, False
        self.admission = Admission(Budget(config.server.memory_budget, aside), self._all, watch)
        self.sessions = {spec.id: self.make(spec) for spec in config.models}
        self._watchdog = Watchdog(self._all, lambda: self.config.server.hang)

    def _all(self) -> list[Session]:
        return [*self.sessions.values(), *self.leaving]

    def make(self, spec: ModelSpec) -> Session:
        """A session of this pool, not yet offered. Raises SpeechError("not_ready") once the pool is closed."""
        if self._closed:
            raise SpeechError("not_ready", model=spec.id, state="unloaded")
        return Session(spec, self.book, self._noted, admit=self.admission.admit)

    def offer(self, sessions: dict[str, Session]) -> None:
        """From now on these are the pool's sessions, in this order."""
        self.sessions = sessions
        self.version = next(self._versions)

    def _noted(self, session: Session, line: str) -> None:
        """Keep the budget's ledger, and what tells the fleet's languages apart warm, on the session's thread."""
        budget = self.admission.budget
        if line == "loading":
            session.note = None
            if session not in budget:  # it died and starts again, or was started by hand
                budget.take(session, need_of(session.spec), anyway=True)
        elif line == "warming":
            routes.warm([*self.config.routes, *(tag for one in self._all() if (model := one.worker.loaded)
                                                for tag in model.languages)])
        elif line == "ready":
            budget.loaded(session)
        elif line in ("unloaded", "failed"):
            budget.give(session)
        if line in STATES:
            self.version = next(self._versions)
        self._watch(session, line)

    # -- changes while it serves

    def swap(self, model_id: str, spec: ModelSpec) -> None:
        """Put `spec` in a session's place; returns when it has taken over. A loaded session serves until the new one is
        warm, then ends after the requests it has. Raises SpeechError when the new one can't be loaded (what was
        loaded goes on, with the failure in its report): "swap_failed" or "model_unknown"."""
        with self.changing:
            old = self.session(model_id)
            if _reloads(old.spec) == _reloads(spec) and old.state != "failed":
                old.spec = old.worker.spec = spec
                if old.worker.usable:
                    old.deferred = False
                elif not spec.lazy:
                    self._load(old)
                return
            new = self.make(spec)
            if old.worker.usable or not spec.lazy:
                try:
                    self._get_ready(new, old)
                except SpeechError as error:
                    if old.worker.usable or error.code != "no_room":
                        new.close()
                        if old.state == "failed":
                            old.worker.error = new.worker.error or error
                        old.note = SpeechError("swap_failed", model=model_id, reason=new.worker.error or error)
                        raise old.note from error
                    new.deferred, new.note = True, error
            self.offer({name: new if one is old else one for name, one in self.sessions.items()})
            self._retire(old, new)

    def add(self, spec: ModelSpec) -> None:
        """Offer one more session; returns when an eager one is ready. Raises SpeechError when it can't be loaded: it is
        offered all the same, with the reason in its report."""
        with self.changing:
            session = self.make(spec)
            self.offer({**self.sessions, spec.id: session})
            if not spec.lazy:
                self._load(session)

    def remove(self, model_id: str) -> None:
        """Take a session out of service: it ends after the requests it has. Raises SpeechError("model_unknown")."""
        with self.changing:
            old = self.session(model_id)
            self.offer({name: one for name, one in self.sessions.items() if one is not old})
            self._retire(old, None)

    def _get_ready(self, new: Session, old: Session) -> None:
        old.incoming = new
        self.leaving.append(new)  # so that the pool's end finds it
        try:
            with new.worker.held():  # nobody may have its room before it serves
                self.admission.admit(new, keep=(old,))
                new.wait_ready()
        finally:
            old.incoming = None
            self.leaving.remove(new)

    def _load(self, session: Session) -> None:
        try:
            self.admission.admit(session)
            session.wait_ready()
            session.deferred = False
        except SpeechError as error:
            if error.code == "no_room":
                session.deferred, session.note = True, error
            raise

    def _retire(self, old: Session, new: Session | None) -> None:
        self.leaving = [one for one in self.leaving if one.state != "unloaded"] + [old]
        old.retire(new)

    def wait_left(self, timeout: float = 5.0) -> None:
        """For those taken out of service to end, at most so many seconds."""
        ends = time.monotonic() + timeout
        for session in self.leaving:
            session.worker.wait_ended(max(0.0, ends - time.monotonic()))

    # -- questions

    def by_priority(self, sessions: list[Session]) -> list[Session]:
        """The most important first; among equals the default model, then as in the file."""
        return sorted(sessions, key=lambda one: (-one.spec.priority, one.spec.id != self.config.server.default_model))

    def start(self) -> None:
        """Load every eager session the budget has room for, each on its own thread; returns at once. The others wait
        for their first request, with the reason in their report."""
        eager = [session for session in self.sessions.values() if not session.lazy]
        self.admission.begin(self.by_priority(eager))
        self._watchdog.start()

    def wait_ready(self, timeout: float | None = None) -> None:
        """Until every eager session is ready. Raises the first one's SpeechError when one fails."""
        for session in self.sessions.values():
            if not session.lazy:
                session.wait_ready(timeout)

    @property
    def ready(self) -> bool:
        """True only while every eager session can take requests."""
        return all(session.state == "ready" for session in self.sessions.values() if not session.lazy)

    def session(self, model_id: str = "") -> Session:
        """The session by id, "" for the default one. Raises SpeechError("model_unknown")."""
        name, sessions = model_id or self.config.server.default_model, self.sessions
        if name not in sessions:
            raise SpeechError("model_unknown", "model", name=name + nearest(name, sessions), choices=list(sessions))
        return sessions[name]

    def session_for(self, request: SpeechRequest) -> Session:
        """The session a request names, or for the model "auto" the one its language is routed to (see `models.routes`)
        among those that are ready and, for a request with a clip or a saved voice, take that.
        Raises SpeechError("model_unknown")."""
        if request.model != routes.AUTO:
            return self.session(request.model)
        ready = {name: model.languages for name, session in self.sessions.items()
                 if session.state == "ready" and (model := session.worker.loaded) is not None
                 and (request.clip is None or session.saved_voices == "clip")
                 and (saved.PREFIX not in request.voice or session.saved_voices)}
        return self.session(routes.choose(request.text, request.language, self.config.routes, ready,
                                   self.config.server.default_model))

    def states(self) -> dict[str, str]:
        return {name: session.state for name, session in self.sessions.items()}

    def report(self, language: str = "en") -> dict:
        """What /api/pool answers: per session its state, times, memory, queue and caches. `version` changes with what
        /api/models answers; `memory` is what counts as used and the limit, per device, in bytes."""
        return {
            "ready": self.ready, "uptime": time.monotonic() - self.began, "version": self.version,
            "resident_bytes": resident_bytes(), "memory": self.admission.budget.report(), "reloads": self.reloads,
            "sessions": [session.report(language) for session in self.sessions.values()],
        }

    def catalog(self) -> dict:
        """What /api/models answers: every model with its voices; the page's choices come from here too."""
        return {
            "version": self.version,
            "default": self.config.server.default_model,
            "text_limit": self.config.server.text_limit,
            "models": [self._entry(session) for session in self.sessions.values()],
        }

    def _entry(self, session: Session) -> dict:
        about = family(session.spec.family)
        return {"id": session.spec.id, "title": about.title, "family": about.name, "licence": about.licence,
                "state": session.state, "clones": about.clones, "saved_voices": session.saved_voices,
                "controls": {name: described(option) for name, option in about.controls.items()}, **session.catalog()}

    def close(self) -> None:
        """End every session; streams are told."""
        self._closed = True
        self._watchdog.stop()
        for session in self._all():
            session.worker.end()
        for session in self._all():
            session.close()


def _reloads(spec: ModelSpec) -> ModelSpec:
    """The spec without what can change while the model stays."""
    return replace(spec, lazy=False, queue_limit=0, priority=0, evict=None)
