"""Small fleets of real voices for tests of the pool: joe, and joe's files under another name."""
from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from models.budget import need_of
from models.config import Config, load_config
from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.memory import resident_bytes
from models.pool import Pool

LINE = "The quick brown fox jumps over the lazy dog."
BOOK = " ".join(f"Chapter {n} begins here, and it tells of the sea and of the people who sail." for n in range(1, 13))
JOE = "en_US-joe-medium"


def config_of(folder: Path, text: str, budget: int | None = None) -> Config:
    """The configuration of these lines, with a budget in bytes."""
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    config = load_config(file)
    return replace(config, server=replace(config.server, memory_budget=budget))


def entry(name: str, path: Path | None = None, **keys: object) -> str:
    lines = {"id": name, "family": "vits", **({"path": str(path)} if path else {}), **keys}
    written = {key: str(value).lower() if isinstance(value, int) else repr(value) for key, value in lines.items()}
    return "[[models]]\n" + "\n".join(f"{key} = {value}" for key, value in written.items()) + "\n"


def room_for(sessions: float) -> int:
    """A budget in bytes in which so many sessions of joe find room, beside what this process holds."""
    need = need_of(spec_of("joe"))
    return resident_bytes() + sum(size for _, size in need.shared.values()) + round(sessions * need.own["cpu"])


def spec_of(name: str, **changes) -> ModelSpec:
    options = defaults_of(family("vits").options)
    return ModelSpec(name, "vits", options=options, **changes)


def joe_files() -> Path:
    return family("vits").fetch(spec_of("joe"), lambda line: None)


def second_voice(folder: Path, name: str = "jane") -> Path:
    """A folder with joe's files as another voice."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in (".onnx", ".onnx.json"):
        shutil.copyfile(joe_files() / f"{JOE}{suffix}", folder / f"en_US-{name}-medium{suffix}")
    return folder


def broken_voice(folder: Path) -> Path:
    """A folder whose graph is no graph."""
    second_voice(folder)
    (folder / "en_US-jane-medium.onnx").write_bytes(b"not a graph at all" * 100)
    return folder


@contextmanager
def running(config: Config, **options) -> Iterator[Pool]:
    """A pool whose eager sessions that fit are ready."""
    pool = Pool(config, **options)
    try:
        pool.start()
        pool.wait_ready(120)
        yield pool
    finally:
        pool.close()
