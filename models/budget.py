"""What the sessions of a process may hold in all, on the machine and on each GPU, and what they hold of it."""
from __future__ import annotations

import logging
import re
import threading
from collections.abc import Hashable
from dataclasses import dataclass, field

from models.families import family
from models.families.protocol import TORCH, ModelSpec
from models.memory import device_memory, free_bytes, resident_bytes

log = logging.getLogger("readyvoice.budget")
HOST = "cpu"
SHARE = 0.8  # of what is free: the rest is for working memory, the page and whatever else the machine does
HARD_SHARE = 0.95  # of what is free, under a budget that somebody has set
CUDA_HOST = 1 << 30  # bytes of main memory that using a GPU takes, once a process
CUDA_OWN = 600 << 20  # bytes of a GPU's memory that using it takes, once a process
UNITS = {"": 20, "MB": 20, "MIB": 20, "GB": 30, "GIB": 30}  # as in /api/pool and on the page, a MB is 2**20 bytes


def parse_budget(value: object) -> int | None:
    """"auto" -> None; "4GB", "4 GiB", "800 MB" or a number of MB -> bytes. Raises ValueError."""
    if value == "auto":
        return None
    text = str(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else ""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if match is None or match[2].upper() not in UNITS or not float(match[1]):
        raise ValueError(f"{value!r} is not an amount of memory")
    return round(float(match[1]) * 2 ** UNITS[match[2].upper()])


def spoken_size(size: int) -> str:
    """For people: "350 MB", "1.2 GB"."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{max(0, size) / 2**20:.0f} MB"


@dataclass(frozen=True)
class Need:
    """What a session takes, in bytes per device ("cpu" is main memory). shared: by name, what it shares with others and
    what stays when it goes (libraries, text front ends), counted once a process. passing: main memory
    that it takes besides, while it loads only."""

    own: dict[str, int]
    passing: int = 0
    shared: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All that it takes once it is loaded."""
        return sum(self.own.values()) + sum(size for _, size in self.shared.values())


def need_of(spec: ModelSpec) -> Need:
    """From the family's estimate. Nothing for weights or packages that can't be read: loading then says why."""
    about = family(spec.family)
    try:
        total = about.estimate(spec) if about.estimate else 0
        device = about.place(spec)
    except Exception:  # a SpeechError, or whatever a damaged file or package leads to
        log.info("the memory %s needs can't be told", spec.id, exc_info=True)
        return Need({})
    own = max(0, total - sum(about.libraries.values()))
    shared = {name: (HOST, size) for name, size in about.libraries.items()}
    if device == HOST:
        return Need({HOST: own}, 0, shared)
    shared["torch"] = (HOST, TORCH)
    # weights come to a GPU by way of main memory
    return Need({device: own}, own, {**shared, "cuda": (HOST, CUDA_HOST), f"{device} itself": (device, CUDA_OWN)})


class Budget:
    """A ledger of what is held, checked against what the process really holds and the machine really has.

    limit: bytes the process may hold on each device, None for a share of what is free. aside: bytes of main memory that
    the process will need for other things. Safe from any thread.
    """

    def __init__(self, limit: int | None = None, aside: int = 0):
        self.limit = limit
        self._base = resident_bytes() + aside
        self._held: dict[Hashable, Need] = {}
        self._loading: set[Hashable] = set()
        self._shared: dict[str, tuple[str, int]] = {}  # once taken it stays
        self._lock = threading.Lock()

    def take(self, holder: Hashable, need: Need, anyway: bool = False) -> bool:
        """Enter what `holder` is about to load. False, with nothing entered, when it doesn't fit and isn't to be taken
        `anyway`. Harmless when it is entered already."""
        with self._lock:
            if holder in self._held:
                return True
            if not anyway and any(self._room(device) < size for device, size in self.missing(need).items()):
                return False
            self._held[holder] = need
            self._shared |= need.shared
            self._loading.add(holder)
            return True

    def __contains__(self, holder: Hashable) -> bool:
        with self._lock:
            return holder in self._held

    def loaded(self, holder: Hashable) -> None:
        """Its memory is taken now and shows in what the process holds."""
        with self._lock:
            self._loading.discard(holder)

    def give(self, holder: Hashable) -> None:
        """It is unloaded. Harmless when it was not entered."""
        with self._lock:
            self._held.pop(holder, None)
            self._loading.discard(holder)

    def held(self, holder: Hashable) -> dict[str, int]:
        """Bytes per device that come free when it goes."""
        with self._lock:
            need = self._held.get(holder)
            return dict(need.own) if need else {}

    def short(self, need: Need) -> dict[str, int]:
        """Per device, the bytes that are missing for it; nothing when it fits."""
        with self._lock:
            gaps = {device: size - self._room(device) for device, size in self.missing(need).items()}
        return {device: gap for device, gap in gaps.items() if gap > 0}

    def room(self, device: str = HOST) -> int:
        """Bytes that may still be taken there."""
        with self._lock:
            return max(0, self._room(device))

    def report(self) -> dict[str, dict[str, int]]:
        """Per device in use: "used" and "limit", in bytes."""
        with self._lock:
            devices = dict.fromkeys([HOST, *(device for need in self._held.values() for device in need.own)])
            figures = {device: self._figures(device) for device in devices}
        return {device: {"used": used, "limit": most} for device, (used, most) in figures.items()}

    def missing(self, need: Need) -> dict[str, int]:
        """Bytes per device that it would take on top of what is loaded."""
        sizes = dict(need.own)
        if need.passing:
            sizes[HOST] = sizes.get(HOST, 0) + need.passing
        for name, (device, size) in need.shared.items():
            if name not in self._shared:
                sizes[device] = sizes.get(device, 0) + size
        return sizes

    def _room(self, device: str) -> int:
        used, most = self._figures(device)
        return most - used

    def _figures(self, device: str) -> tuple[int, int]:
        """What counts as used, and the most that may be: the ledger or reality, whichever is worse."""
        held, free = (resident_bytes(), free_bytes()) if device == HOST else device_memory(device)
        promised = {holder: need.own.get(device, 0) for holder, need in self._held.items()}
        if device == HOST:
            for holder in self._loading:
                promised[holder] += self._held[holder].passing
        shared = sum(size for where, size in self._shared.values() if where == device)
        base = self._base if device == HOST else 0
        coming = sum(promised[holder] for holder in self._loading)
        used = max(base + shared + sum(promised.values()), held + coming)
        if self.limit is None:
            return used, held + int(free * SHARE)
        return used, min(self.limit, held + int(free * HARD_SHARE))
