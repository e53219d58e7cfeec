"""`fetch`: a checkpoint downloaded ahead, by name; without a name, which there are."""
from __future__ import annotations

import shlex
from pathlib import Path

from models.families import fetch
from models.published import checkpoint, checkpoints, here, spec_of


def fetch_checkpoint(name: str) -> int:
    """Fetch it, with a line every few percent, and say what it is, where it lies and how to use it.

    Raises SpeechError: checkpoint_unknown, package_missing, weights_missing, weights_broken.
    """
    about, one = checkpoint(name)
    print(f"{one.name}: {about.title}{_size(one.size, ', about ')}")
    print(f"licence: {about.licence}", flush=True)
    spec = spec_of(about, one)
    folder = fetch(spec, lambda line: print(f"{one.name}: {line}", flush=True))
    print(f"{one.name} is in {folder}{_size(_on_disk(folder), ', ')}")
    changed = {key: value for key, value in one.options.items() if value != about.options[key].default}
    lines = ["[[models]]", f'id = "{spec.id}"', f'family = "{about.name}"',
             *(f'{about.name}.{key} = "{value}"' for key, value in changed.items())]
    print("\nTo have it resident, add to config.toml:\n" + "\n".join(f"    {line}" for line in lines))
    if about.requires:
        print(f"and start once with: bash start.sh --with {about.name}")
    print(f"To hear it: bash start.sh say {shlex.quote('Hello there.')} --model {spec.id}"
          + (f" --with {about.name}" if about.requires and not changed else ""))
    return 0


def list_checkpoints() -> int:
    """Every checkpoint of the optional families with its size, whether it is on this machine, and the licence."""
    told = None
    for about, one in checkpoints().values():
        if not about.requires:
            continue  # the default fleet's come with setup
        if about is not told:
            print(f"{about.title} - {about.licence}")
            told = about
        folder = here(about, one)
        where = f"here{_size(_on_disk(folder), ', ')}: {folder}" if folder else "not on this machine"
        print(f"  {one.name:<30}{_size(one.size, 'about ') or 'size not known':<16}{where}", flush=True)
    print("\nbash start.sh fetch NAME downloads one; --mirror modelscope takes it from ModelScope.")
    return 0


def _on_disk(folder: Path) -> float:
    """Bytes of the files in a folder, or of one file."""
    files = [folder] if folder.is_file() else [file for file in folder.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def _size(size: float | None, before: str) -> str:
    """ "about 2.0 GB"; "" when it isn't known."""
    if size is None:
        return ""
    return f"{before}{size / 1e9:.1f} GB" if size >= 1e9 else f"{before}{size / 1e6:.0f} MB"
