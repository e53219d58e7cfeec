"""The thread that carries a session's model: it loads and warms it, and is begun anew once when it dies or hangs."""
from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from models.errors import SpeechError
from models.families import create
from models.families.protocol import ModelSpec
from models.life import Life
from models.memory import give_back, resident_bytes
from models.text import warm_languages

log = logging.getLogger("readyvoice.session")
HEALTHY_AFTER = 600.0  # seconds of service after which a session may be restarted once more


class Abandoned(BaseException):
    """Ends a thread that has been given up."""


class Carried(Life):
    """watch: told on the thread when the state changes or a warm-up stage is over, with a line on what happened.
    warm: False leaves warming out, for a process that speaks once: each stage is then made when it is needed.
    """

    def __init__(self, spec: ModelSpec, watch: Callable[[str], None], warm: bool = True):
        super().__init__(spec, watch)
        self._warm = warm
        self.load_seconds: float | None = None
        self.warm_seconds: float | None = None
        self.memory_bytes = self.restarts = 0
        self._thread: threading.Thread | None = None
        self._ready_since = 0.0

    # -- what it carries

    def _over(self) -> bool:
        """Whether the thread is to end."""
        raise NotImplementedError

    def _step(self) -> None:
        """Wait for something to do and do one piece of it."""
        raise NotImplementedError

    def _end_all(self, error: SpeechError) -> None:
        """Tell whoever waits."""
        raise NotImplementedError

    # -- the thread

    def wait_ended(self, timeout: float | None = None) -> None:
        """For the thread to end, if there is one."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def _begin(self) -> None:
        self._thread = threading.Thread(target=self._live, name=f"session-{self.spec.id}", daemon=True)
        self._thread.start()

    def _live(self) -> None:
        try:
            self._prepare()
            while not self._over():
                self._step()
            self._still_wanted()
        except Abandoned:
            log.warning("session %s: a thread that had been given up came back and ends", self.spec.id)
        except BaseException as error:  # nothing may end a session unseen
            if threading.current_thread() is self._thread:
                if not isinstance(error, SpeechError):  # those say what is wrong, and `_become` logs that
                    log.error("session %s died", self.spec.id, exc_info=error)
                self._start_over(error)
        else:
            self._release("unloaded")

    def _still_wanted(self) -> None:
        """Raises Abandoned on a thread that has been given up."""
        if threading.current_thread() is not self._thread:
            raise Abandoned

    def _prepare(self) -> None:
        before, began = resident_bytes(), time.monotonic()
        self._model = create(self.spec)
        self._model.load(self._watch)
        self.load_seconds = time.monotonic() - began
        self._become("warming")
        began = time.monotonic()
        for stage in self._model.warm() if self._warm else ():
            self._watch(stage)
        if self._warm:
            warm_languages(self._model.languages)
        self.warm_seconds = time.monotonic() - began
        give_back()
        self.memory_bytes = max(0, resident_bytes() - before)
        self._ready_since = time.monotonic()
        self._become("ready")

    def _start_over(self, error: BaseException, hangs: bool = False) -> None:
        """Tell everyone who waits, give the memory back, and load again, once."""
        was_ready = self.state == "ready"
        told = error if isinstance(error, SpeechError) else None
        self._release("failed", told.sentence() if told else f"{type(error).__name__}: {error}", told, hangs)
        if was_ready and not self._closing and not self._retired:
            if time.monotonic() - self._ready_since > HEALTHY_AFTER:
                self.restarts = 0
            if self.restarts < 1:
                self.restarts += 1
                self._become("loading")
                self._begin()

    def _release(self, state: str, reason: str = "", error: SpeechError | None = None, hangs: bool = False) -> None:
        """hangs: another thread is still in the model, which is left to it."""
        with self._changed:
            self.state, self.reason, self.error = state, reason, error
            model, self._model = self._model, None
        self._end_all(error if hangs else SpeechError("session_died", model=self.spec.id))
        if model is not None and not hangs:
            try:
                model.unload()
            except Exception:
                log.exception("session %s could not unload", self.spec.id)
        del model
        give_back()
        self.memory_bytes = 0
        self._become(state, reason, error)
        with self._changed:
            self._leaving = False
            self._changed.notify_all()
