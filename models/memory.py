"""How much memory this process holds and may still take, and giving back what it no longer needs."""
from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

CGROUPS, OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
# limit, what is used, and what of that the system takes back when it needs it, in the second and the first version
VERSIONS = (("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"))


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of mallopt(3)
TRIMMED, MAPPED = 64 << 20, 32 << 20  # bytes: what glibc's own moving thresholds come to once large blocks were freed
CLEARED = 1 << 20  # bytes at the end of an arena that are given back on demand
BLOCK = 100_000  # bytes: freeing as much makes glibc look at the end of its arena


def few_arenas() -> None:
    """Keep glibc to two allocation arenas: with one a thread, what each thread frees stays with it and memory grows."""
    try:
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)
    except (OSError, AttributeError):
        pass  # not glibc


def resident_bytes() -> int:
    """Resident set size of this process, in bytes."""
    return psutil.Process().memory_info().rss


def free_bytes(mount: Path = CGROUPS, own: Path = OWN) -> int:
    """Bytes this process could still take: what the machine has free, or its control group (a container's limit) if
    that is less. Swap doesn't count. mount, own: where the system tells of control groups."""
    return min([psutil.virtual_memory().available, *_group_room(mount, own)])


def _group_room(mount: Path, own: Path) -> Iterator[int]:
    """What each control group with a limit leaves, from the process's own up to the root."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        for root in (mount / "memory",) if controllers else (mount, mount / "unified"):
            folder = root / path.lstrip("/")  # in a container the path may be the host's and mean nothing here
            for group in (folder, *folder.parents):
                if root not in (group, *group.parents):
                    break
                yield from _room(group)


def _room(group: Path) -> Iterator[int]:
    for limit, used, reclaimable in VERSIONS:
        try:
            most = int((group / limit).read_text())
            taken = int((group / used).read_text())
            stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):  # no such file, or no limit ("max")
            continue
        yield max(0, most - taken + int(stat.get(reclaimable, 0)))


def device_memory(device: str) -> tuple[int, int]:
    """Bytes this process holds on "cuda:N" and bytes that are free there."""
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    return torch.cuda.memory_reserved(device), free


def give_back() -> None:
    """Collect garbage and return freed memory to the system: glibc keeps it otherwise, 150 MB after one Piper voice."""
    gc.collect()
    trim()
    torch = sys.modules.get("torch")
    if torch is not None and getattr(torch, "cuda", None) is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def trim() -> None:
    """Return freed memory to the system; a few milliseconds.

    malloc_trim leaves the free end of every arena but the main one, 50 MB after a voice was unloaded. It goes back when a
    block is freed there while the threshold is low: the arena is that of the calling thread.
    """
    try:
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        libc.mallopt(M_MMAP_THRESHOLD, MAPPED)  # any mallopt of these two ends their moving
        libc.mallopt(M_TRIM_THRESHOLD, CLEARED)
        libc.free(libc.malloc(BLOCK))
        libc.mallopt(M_TRIM_THRESHOLD, TRIMMED)
        libc.malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        pass  # not glibc
