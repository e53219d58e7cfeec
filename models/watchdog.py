"""Looks whether the sessions' threads give signs of life, and gives up on one that hangs."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from models.errors import SpeechError
from models.session import Session


class Watchdog:
    """patience: seconds without a sign of life that a session at work may take, asked anew at every look.

    Only time in which this very thread was awake counts: a process that was stopped and goes on has not hung.
    """

    def __init__(self, sessions: Callable[[], Iterable[Session]], patience: Callable[[], float]):
        self._sessions, self._patience = sessions, patience
        self._quiet: dict[Session, tuple[object, float]] = {}  # its last sign of life, and the seconds since
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        if not self._thread.is_alive() and not self._ended.is_set():
            self._thread.start()

    def stop(self) -> None:
        self._ended.set()

    def _watch(self) -> None:
        looked = time.monotonic()
        while not self._ended.wait(pause := min(5.0, self._patience() / 8)):
            now = time.monotonic()
            self.look(min(now - looked, 2 * pause))
            looked = now

    def look(self, passed: float) -> None:
        """passed: seconds since the last look."""
        quiet = {}
        for session in self._sessions():
            if (sign := session.worker.sign) is None:
                continue
            last, before = self._quiet.get(session, (None, 0.0))
            seconds = before + passed if sign == last else 0.0
            quiet[session] = sign, seconds
            if seconds > self._patience():
                session.worker.abandon(SpeechError("session_hung", model=session.spec.id, seconds=f"{seconds:.0f}"))
        self._quiet = quiet
