"""Compiling the C++ network for this CPU, once."""
from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from models import weights
from models.errors import SpeechError
from models.families.device import cpu_flags
from models.folders import making, standing

log = logging.getLogger(__name__)

SOURCE = Path(__file__).parent
MAIN, FILE = "kokoro.cpp", "kokoro.so"
COMPILERS = ("g++", "clang++", "c++")
ZIG, ZIG_VERSION = "ziglang", "0.17.1"  # carries Clang and a C++ library: for machines without a compiler
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fPIC", "-shared", "-pthread")
PATIENCE = 600  # seconds for one compilation; 10 to 20 are usual, a minute with zig
LEAVE = ctypes.CFUNCTYPE(ctypes.c_int)  # `leave` of kokoro_plan and kokoro_speak
RETRY_AFTER = 24 * 3600  # seconds until what failed is tried again


def library(progress: Callable[[str], None] = lambda line: None) -> ctypes.CDLL | None:
    """The network for this machine, compiled if it isn't yet; None where that can't be done (the log says why)."""
    target = weights.home() / "kokoro" / "native" / _key()
    failed = target.with_name(f"{target.name}.failed")
    made = standing(target)
    if not made and failed.exists() and time.time() - failed.stat().st_mtime < RETRY_AFTER:
        log.info("kokoro: torch does the work, more slowly: %s", failed.read_text("utf-8"))
        return None
    try:
        if not made:
            progress("kokoro: compiling its network for this CPU (once)")
            _compile(target, progress)
        return _declared(ctypes.CDLL(str(target / FILE)))
    except (OSError, subprocess.SubprocessError, SpeechError) as error:
        reason = _reason(error)
        log.warning("kokoro: its network could not be compiled, torch does the work, more slowly: %s", reason)
        target.parent.mkdir(parents=True, exist_ok=True)
        failed.write_text(reason, "utf-8")
        return None


def find_compiler() -> list[str] | None:
    """The command of a C++ compiler on this machine: $CXX, or one of the usual names."""
    for name in (os.environ.get("CXX"), *COMPILERS):
        if name and (path := shutil.which(name)):
            return [path]
    return None


def _key() -> str:
    """What the result depends on: source, flags, CPU."""
    digest = hashlib.sha256("\n".join([*FLAGS, sys.platform, platform.machine(), *sorted(cpu_flags())]).encode())
    for file in sorted([*SOURCE.glob("*.h"), SOURCE / MAIN]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def _compile(target: Path, progress: Callable[[str], None]) -> None:
    with making(target) as folder, tempfile.TemporaryDirectory() as scratch:
        compiler, environment = find_compiler(), {}
        if compiler is None:
            zig = weights.pip_package(ZIG, ZIG_VERSION, progress) / "ziglang" / "zig"
            zig.chmod(0o755)
            compiler = [str(zig), "c++"]
            environment = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), scratch)
        subprocess.run([*compiler, *FLAGS, str(SOURCE / MAIN), "-o", str(folder / FILE)], check=True, capture_output=True,
                       text=True, timeout=PATIENCE, env={**os.environ, **environment})
    shutil.rmtree(weights.home() / "packages" / f"{ZIG}-{ZIG_VERSION}", ignore_errors=True)  # 400 MB, used once


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
    gap = [ctypes.POINTER(ctypes.c_int32), LEAVE]
    lib.kokoro_plan.argtypes = [pointer, pointer, integer, pointer, ctypes.c_float, pointer, *gap]
    lib.kokoro_plan.restype = integer
    lib.kokoro_speak.argtypes, lib.kokoro_speak.restype = [pointer, pointer, pointer, *gap], integer
    lib.kokoro_drop.argtypes, lib.kokoro_drop.restype = [pointer, integer], None
    lib.kokoro_bytes.argtypes, lib.kokoro_bytes.restype = [pointer], ctypes.c_long
    return lib
