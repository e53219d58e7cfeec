"""Compiling the C++ network for this CPU, once."""
from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from models import weights
from models.families.kokoro.device import cpu_flags

log = logging.getLogger(__name__)

SOURCE = Path(__file__).parent
MAIN = "kokoro.cpp"
COMPILERS = ("g++", "clang++", "c++")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fPIC", "-shared", "-pthread")
PATIENCE = 300  # seconds for one compilation; 10 to 20 are usual


def library(progress: Callable[[str], None] = lambda line: None) -> ctypes.CDLL | None:
    """The network for this machine, compiled if it isn't yet; None where that can't be done (the log says why)."""
    compiler = find_compiler()
    if compiler is None:
        log.info("kokoro: no C++ compiler found: torch does the work, two to four times slower")
        return None
    target = weights.home() / "kokoro" / "native" / f"{_key(compiler)}.so"
    try:
        if not target.exists():
            progress("kokoro: compiling its network for this CPU (once)")
            _compile(compiler, target)
        return _declared(ctypes.CDLL(str(target)))
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("kokoro: the network could not be compiled, torch does the work: %s", _reason(error))
        return None


@lru_cache(maxsize=1)
def find_compiler() -> str | None:
    """A C++ compiler for this machine: $CXX, or one of the usual names."""
    for name in (os.environ.get("CXX"), *COMPILERS):
        if name and (path := shutil.which(name)):
            return path
    return None


def _key(compiler: str) -> str:
    """What the result depends on: source, flags, compiler, CPU."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=30).stdout
    digest = hashlib.sha256("\n".join([*FLAGS, version, platform.machine(), *sorted(cpu_flags())]).encode())
    for file in sorted([*SOURCE.glob("*.h"), SOURCE / MAIN]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def _compile(compiler: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / target.name
        subprocess.run([compiler, *FLAGS, str(SOURCE / MAIN), "-o", str(made)], check=True, capture_output=True,
                       text=True, timeout=PATIENCE)
        os.replace(made, target)


def _reason(error: Exception) -> str:
    lines = (getattr(error, "stderr", None) or "").strip().splitlines()
    return next((line for line in lines if "error" in line), str(error))


def _declared(lib: ctypes.CDLL) -> ctypes.CDLL:
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    lib.kokoro_narrow_kind.argtypes, lib.kokoro_narrow_kind.restype = [], integer
    lib.kokoro_new.argtypes, lib.kokoro_new.restype = [], pointer
    lib.kokoro_free.argtypes, lib.kokoro_free.restype = [pointer], None
    lib.kokoro_tensor.argtypes, lib.kokoro_tensor.restype = [pointer, ctypes.c_char_p, pointer, ctypes.c_long], None
    lib.kokoro_build.argtypes, lib.kokoro_build.restype = [pointer, integer, integer, integer], ctypes.c_char_p
    lib.kokoro_plan.argtypes = [pointer, pointer, integer, pointer, ctypes.c_float, pointer]
    lib.kokoro_plan.restype = integer
    lib.kokoro_speak.argtypes, lib.kokoro_speak.restype = [pointer, pointer, pointer], None
    lib.kokoro_drop.argtypes, lib.kokoro_drop.restype = [pointer], None
    lib.kokoro_bytes.argtypes, lib.kokoro_bytes.restype = [pointer], ctypes.c_long
    return lib
