"""A session's model and the states it goes through."""
from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from models.errors import SpeechError
from models.families.protocol import Model, ModelSpec

log = logging.getLogger("readyvoice.session")
STATES = ("registered", "loading", "warming", "ready", "failed", "unloaded")


class Life:
    """A model, or none yet, and where it stands. Public methods may be called from any thread.

    watch: told when the state changes, on the thread that changes it.
    """

    def __init__(self, spec: ModelSpec, watch: Callable[[str], None]):
        self.spec, self._watch = spec, watch
        self.state, self.reason = "registered", ""
        self.error: SpeechError | None = None  # what `reason` says in English, where it is one of our sentences
        self._model: Model | None = None
        self._changed = threading.Condition()
        self._closing = False
        self._leaving = False  # the model is about to be unloaded, to be loaded again some day
        self._retired = False  # it is to end for good, after its last request

    @property
    def usable(self) -> bool:
        """Loaded, and not about to go."""
        with self._changed:
            return self.state == "ready" and not (self._closing or self._leaving or self._retired)

    @property
    def model(self) -> Model:
        """The loaded model, for what may be asked of it from any thread. Raises as `must_be_ready`."""
        model = self._model
        if model is None or self.state != "ready":
            self.must_be_ready()
        return model

    @property
    def loaded(self) -> Model | None:
        """The model if there is one, in whatever state."""
        return self._model

    def must_be_ready(self) -> None:
        if self.state == "failed":
            raise SpeechError("session_failed", model=self.spec.id, reason=self.reason)
        if not self.usable:
            raise SpeechError("not_ready", model=self.spec.id, state=self.state)

    def wait_ready(self, timeout: float | None = None) -> None:
        """Until ready. Raises SpeechError("session_failed" or "not_ready") when that does not come."""
        self.wait_settled(timeout)
        self.must_be_ready()

    def wait_settled(self, timeout: float | None = None) -> None:
        """While it is getting ready."""
        with self._changed:
            self._changed.wait_for(lambda: self.state not in ("loading", "warming"), timeout)

    def _become(self, state: str, reason: str = "", error: SpeechError | None = None) -> None:
        with self._changed:
            self.state, self.reason, self.error = state, reason, error
            self._changed.notify_all()
        log.info("session %s: %s%s", self.spec.id, state, f" ({reason})" if reason else "")
        self._watch(state)
