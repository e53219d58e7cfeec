"""A configuration read again while the pool serves: only the difference is carried out."""
from __future__ import annotations

from dataclasses import replace

from models.config import Config
from models.errors import SpeechError
from models.families.protocol import ModelSpec
from models.pool import Pool

AT_START = ("host", "port", "trusted_proxies")  # keys of [server] that need a new listener


def apply(pool: Pool, config: Config) -> list[SpeechError]:
    """Swap the entries that changed, load the new ones, end those that are gone after their last request.

    Returns when all that is done, with what could not be: an entry that can't be loaded leaves its old session at
    work. The rest of [server] and [routes] hold from then on.
    """
    with pool.changing:
        problems = [
            SpeechError("restart_needed", name, name=f"[server] {name}", value=getattr(config.server, name))
            for name in AT_START if getattr(config.server, name) != getattr(pool.config.server, name)
        ]
        pool.admission.budget.limit = config.server.memory_budget
        late = []
        for spec in sorted(config.models, key=lambda spec: -spec.priority):
            try:
                pool.swap(spec.id, spec) if spec.id in pool.sessions else pool.add(spec)
            except SpeechError as error:
                late.append((spec, error))
        kept = {name: getattr(pool.config.server, name) for name in AT_START}
        pool.config = replace(config, server=replace(config.server, **kept))
        for name in [name for name in pool.sessions if all(name != spec.id for spec in config.models)]:
            pool.remove(name)
        pool.offer({spec.id: pool.sessions[spec.id] for spec in config.models})
        return problems + [error for spec, error in late if not _second_try(pool, spec, error)]


def _second_try(pool: Pool, spec: ModelSpec, error: SpeechError) -> bool:
    """What found no room may find it now that others are gone."""
    if "no_room" not in (error.code, getattr(error.__cause__, "code", "")):
        return False
    try:
        pool.wait_left()
        pool.swap(spec.id, spec)
    except SpeechError:
        return False
    return True
