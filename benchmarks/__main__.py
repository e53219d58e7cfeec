"""`python -m benchmarks [NAME] [--json FILE] [options]`."""
from __future__ import annotations

import argparse
import ast
import importlib
import json
import sys
from pathlib import Path

from models.config import nearest

CASES = Path(__file__).parent / "cases"


def catalogue() -> dict[str, str]:
    """Name and one-line help of every benchmark, without importing any."""
    found = {}
    for file in sorted(CASES.glob("*.py")):
        if not file.stem.startswith("_"):
            text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
            found[file.stem.replace("_", "-")] = text.split("\n")[0]
    return found


def main(arguments: list[str]) -> int:
    known = catalogue()
    if not arguments or arguments[0] in ("-h", "--help"):
        print("Benchmarks (python -m benchmarks NAME [--json FILE] [--rounds N] [options]):\n")
        for name, text in known.items():
            print(f"  {name:15} {text}")
        return 0
    name = arguments[0]
    if name not in known:
        print(f"There is no benchmark {name}{nearest(name, known)}.", file=sys.stderr)
        return 2
    case = importlib.import_module(f"benchmarks.cases.{name.replace('-', '_')}")
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=case.__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result as one JSON object")
    parser.add_argument("--rounds", type=int, default=getattr(case, "ROUNDS", 7),
                        help="measurements a side, in alternation (default %(default)s)")
    if hasattr(case, "arguments"):
        case.arguments(parser)
    options = parser.parse_args(arguments[1:])
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    result = case.run(options)
    print(result.table())
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result.report(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
