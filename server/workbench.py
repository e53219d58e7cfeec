"""Long work done one at a time, that can be watched from outside and stopped."""
from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from models.errors import SpeechError

MOST = 8  # pieces of work that may be there at once


class Work:
    """state: waiting, running, done, failed or stopped (before it began). result: of the work. progress: what it said of
    itself last. stop: set once the work is to end."""

    def __init__(self) -> None:
        self.state = "waiting"
        self.result: Any = None
        self.progress: Any = None
        self.error: SpeechError | None = None
        self.stop = threading.Event()
        self.end: Callable[[], None] | None = None  # what ends it, in the line or at work

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "stopped")


class Workbench:
    """Any thread may call it; the work itself is done on a thread of the bench's own."""

    def __init__(self, name: str):
        self._hand, self._line = ThreadPoolExecutor(1, name), list[Work]()
        self._lock = threading.Lock()

    def start(self, do: Callable[[Work], Any]) -> Work:
        """Put `do(work)` in the line. Raises SpeechError("cloning_busy")."""
        work = Work()
        work.end = lambda: self.stop(work)
        with self._lock:
            if len(self._line) >= MOST:
                raise SpeechError("cloning_busy", length=len(self._line))
            self._line.append(work)
        self._hand.submit(self._run, work, do)
        return work

    def before(self, work: Work) -> int:
        """How many others it still waits for."""
        with self._lock:
            return self._line.index(work) if work in self._line else 0

    def stop(self, work: Work) -> None:
        """End it: at its next step when it runs, at once when it still waits."""
        work.stop.set()
        with self._lock:
            if work.state == "waiting":
                work.state = "stopped"
                if work in self._line:
                    self._line.remove(work)

    def close(self) -> None:
        """End what runs at its next step, and let nothing else begin."""
        with self._lock:
            for work in self._line:
                work.stop.set()
        self._hand.shutdown(wait=False)

    def _run(self, work: Work, do: Callable[[Work], Any]) -> None:
        try:
            with self._lock:
                if work.stop.is_set():
                    work.state = "stopped"
                    return
                work.state = "running"
            work.result = do(work)
            work.state = "done"
        except SpeechError as error:
            work.error, work.state = error, "failed"
        except Exception as error:
            logging.getLogger("readyvoice.cloning").exception("a voice could not be made")
            work.error, work.state = SpeechError("cloning_failed", reason=type(error).__name__), "failed"
        finally:
            with self._lock:
                if work in self._line:
                    self._line.remove(work)
