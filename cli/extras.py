"""Which optional packages a run needs, before anything is installed: run by the system's Python with its library alone.

    python extras.py FOLDER COMMAND [the command's own arguments]

Prints the NAMEs of requirements-NAME.txt, and ends with 1 and a sentence when one is asked for that isn't there.
"""
from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path

BUILT_IN = ("kokoro", "vits")  # families that need nothing more
NOT_FAMILIES = ("test", "bench", "modelscope")
FAMILIES_OF = {"voxcpm": "voxcpm", "pocket": "pocket_tts", "supertonic": "supertonic", "qwen3-tts": "qwen3_tts"}


def extras(folder: Path, command: str, arguments: list[str]) -> list[str]:
    """Raises ValueError, saying what is wrong with --with."""
    options = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    options.add_argument("--with", dest="families", action="append", default=[])
    options.add_argument("--mirror", default=os.environ.get("READYVOICE_MIRROR", ""))
    given, rest = options.parse_known_args(arguments)
    families = sorted(path.stem.removeprefix("requirements-") for path in folder.glob("requirements-*.txt"))
    families = [name for name in families if name not in NOT_FAMILIES]
    wanted = [name.strip() for names in given.families for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in (*families, *BUILT_IN):
            known = [*families, *BUILT_IN]
            near = difflib.get_close_matches(name, known, 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"there is no family of models called {name} ({hint})")
    if command == "fetch":  # a checkpoint's own package knows where its files are
        wanted += [FAMILIES_OF[start] for name in rest for start in FAMILIES_OF if name.startswith(start)]
    if given.mirror.strip().lower() == "modelscope":
        wanted.append("modelscope")
    return [name for name in dict.fromkeys(wanted) if name not in BUILT_IN]


if __name__ == "__main__":
    try:
        print(" ".join(extras(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])))
    except (ValueError, argparse.ArgumentError) as error:
        print(f"[1/6] {error}", file=sys.stderr)
        sys.exit(1)
