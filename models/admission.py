"""Who may load: in order of priority while the budget lasts, then whoever a request asks for, others making room."""
from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence

from models.budget import HOST, Budget, Need, need_of, spoken_size
from models.errors import SpeechError
from models.session import Session

UNSETTLED = ("loading", "warming")


class Admission:
    """sessions: all that there are now. Every load of a pool's sessions is let in here, so that no two of them count
    on the same memory. tell: told with "deferred" or "evicted" and the session whose note says why."""

    def __init__(self, budget: Budget, sessions: Callable[[], Collection[Session]],
                 tell: Callable[[Session, str], None] = lambda session, line: None):
        self.budget, self._sessions, self._tell = budget, sessions, tell
        self._lock = threading.Lock()

    def begin(self, wanted: Sequence[Session]) -> None:
        """Begin to load those that fit beside each other, in this order. The rest are lazy now, with the reason as
        their note."""
        with self._lock:
            taken = []
            for session in wanted:
                need = need_of(session.spec)
                if self.budget.take(session, need):
                    taken.append(session)
                else:
                    session.note = self._short(session, need, "deferred")
                    session.deferred = True
                    self._tell(session, "deferred")
            for session in taken:
                session.start()

    def admit(self, session: Session, keep: Collection[Session] = ()) -> None:
        """Begin to load `session`, idle others being unloaded for it where that is allowed (never those in `keep`).

        Returns once it loads. Raises SpeechError("no_room") when there is no room to be had.
        """
        with self._lock:
            if session.worker.usable or session.state in UNSETTLED:
                return
            need = need_of(session.spec)
            while not self.budget.take(session, need):
                victim = self._victim(session, need, keep)
                if victim is not None:
                    if victim.unload():
                        victim.note = SpeechError("evicted", model=victim.spec.id, other=session.spec.id)
                        self._tell(victim, "evicted")
                elif others := [other for other in self._sessions() if other.state in UNSETTLED]:
                    others[0].worker.wait_settled()  # what it takes is counted in full until it is known
                else:
                    raise self._short(session, need, "no_room")
            session.start()

    def _victim(self, session: Session, need: Need, keep: Collection[Session]) -> Session | None:
        """Of the idle sessions that may go, the one used longest ago; None when even all of them would not do."""
        short = self.budget.short(need)
        able = [other for other in self._sessions()
                if other is not session and other not in keep and other.worker.idle and _may_go(other, session)
                and any(self.budget.held(other).get(device) for device in short)]
        enough = all(gap <= sum(self.budget.held(other).get(device, 0) for other in able) for device, gap in short.items())
        return min(able, key=lambda other: other.worker.used_at) if able and enough else None

    def _short(self, session: Session, need: Need, code: str) -> SpeechError:
        device = next(iter(self.budget.short(need)), HOST)
        return SpeechError(code, model=session.spec.id, needed=spoken_size(self.budget.missing(need).get(device, 0)),
                           left=spoken_size(self.budget.room(device)))


def _may_go(session: Session, newcomer: Session) -> bool:
    """As its entry says; else if a request loaded it, or the newcomer is of higher priority."""
    if session.spec.evict is not None:
        return session.spec.evict
    return session.lazy or session.spec.priority < newcomer.spec.priority
