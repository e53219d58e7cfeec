"""Steps 3 to 5: weights on the machine, models loaded, models warm."""
from __future__ import annotations

import shutil
import subprocess

from cli.progress import Steps
from models.config import Config
from models.families import family, fetch
from models.pool import Pool
from models.session import Session

PAGE_BYTES = 120 << 20  # of memory that the page takes once it is open


def fetch_weights(config: Config, steps: Steps) -> None:
    """Step 3. Raises SpeechError("weights_missing") naming the model whose weights are not to be had."""
    for spec in config.models:
        with steps.step(3, f"weights of {spec.id} ({family(spec.family).licence})"):
            fetch(spec, lambda line: steps.line(3, line))


def check_device(config: Config, steps: Steps) -> None:
    """Say in one sentence why a GPU that is present can't be used."""
    if shutil.which("nvidia-smi") is None:
        return
    found = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                           capture_output=True, text=True)
    import torch
    if found.returncode == 0 and found.stdout.strip() and not torch.cuda.is_available():
        steps.line(4, f"the GPU ({found.stdout.strip().splitlines()[0]}) can't be used, its driver is older than CUDA "
                      f"{torch.version.cuda} needs: update the driver; going on with the CPU", always=True)


def watcher(steps: Steps):
    """A pool's watch function that prints a line for each session's loading and warming."""

    def watch(session: Session, line: str) -> None:
        name = session.spec.id
        match line:
            case "loading":
                steps.line(4, f"loading {name} …")
            case "warming":
                steps.line(4, f"{name} loaded ({session.worker.load_seconds:.1f} s)")
                steps.line(5, f"warming {name} …")
            case "ready":
                steps.line(5, f"{name} is warm ({session.worker.warm_seconds:.1f} s)")
            case "failed":
                steps.line(5, f"{name} failed: {session.worker.reason}", always=True)
            case "deferred" | "evicted":
                steps.line(4, session.note.sentence(), always=True)
            case "unloaded":
                pass
            case _ if session.state == "loading":
                steps.line(4, f"{name}: {line}")
            case _:
                steps.line(5, f"{name}: {line}")

    return watch


def new_pool(config: Config, steps: Steps) -> Pool:
    """A pool that says what its sessions do."""
    check_device(config, steps)
    return Pool(config, watcher(steps), PAGE_BYTES)
