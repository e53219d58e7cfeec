"""Step 1, before anything is installed: run by the system's Python with the standard library alone.

    python preflight.py COMMAND INSTALLED(yes|part|no) FOLDER [the command's own arguments]
"""
from __future__ import annotations

import argparse
import errno
import os
import shutil
import socket
import sys
import tomllib
from pathlib import Path

NEEDED_TO_INSTALL = 8  # GB: the environment with a CUDA build of torch, and the weights
NEEDED_FOR_PART = 2  # a family of models on top
NEEDED_TO_RUN = 0.2


def trouble(command: str, installed: bool, folder: Path, arguments: list[str], part: bool = False) -> str | None:
    """One sentence on what stands in the way and what to do; None when nothing does. part: some is yet to install."""
    if not installed:
        try:
            import ensurepip  # noqa: F401
            import venv  # noqa: F401
        except ImportError:
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            return f"this Python has no venv module: install it (on Debian or Ubuntu: apt install python{version}-venv) and start again"
    home = Path(os.environ["READYVOICE_HOME"])
    needed = NEEDED_FOR_PART if part else NEEDED_TO_RUN if installed else NEEDED_TO_INSTALL
    for place in (folder, home):
        free = shutil.disk_usage(place).free / 1e9
        if free < needed:
            return f"the disk that holds {place} has {free:.1f} GB free and {needed:g} GB are needed: free some space and start again"
    if not os.access(home, os.W_OK):
        return f"{home} can't be written to: choose another folder with READYVOICE_HOME=/path bash start.sh"
    return _port_trouble(folder, arguments) if command == "serve" else None


def _port_trouble(folder: Path, arguments: list[str]) -> str | None:
    options = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    options.add_argument("--host")
    options.add_argument("--port", type=int)
    options.add_argument("--config", default=folder / "config.toml")
    try:
        given, _ = options.parse_known_args(arguments)
        server = tomllib.loads(Path(given.config).read_text(encoding="utf-8")).get("server", {})
        host, port = given.host or server.get("host", "127.0.0.1"), given.port or server.get("port", 6006)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return f"port {port} on {host} is taken: stop what uses it or choose another with --port"
    except (argparse.ArgumentError, ValueError, AttributeError, TypeError):
        pass  # said properly by the program itself
    return None


if __name__ == "__main__":
    found = trouble(sys.argv[1], sys.argv[2] != "no", Path(sys.argv[3]), sys.argv[4:], sys.argv[2] == "part")
    if found:
        print(f"[1/6] {found}", file=sys.stderr)
        sys.exit(1)
