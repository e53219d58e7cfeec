"""voxcpm: VoxCPM 0.5B, 1.5 and 2 through the official package, streamed patch by patch, voices kept as prefilled state."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.protocol import FamilyInfo, Model, ModelSpec, Option, Published
from models.families.voxcpm.names import CHECKPOINTS, DEFAULT


def create(spec: ModelSpec) -> Model:
    from models.families.voxcpm.model import VoxCPM

    return VoxCPM(spec)


def fetch(spec: ModelSpec, progress: Callable[[str], None]) -> Path:
    from models.families.voxcpm import official
    from models.families.voxcpm.checkpoint import fetch

    folder = fetch(spec, progress)
    official.fetch(progress)
    return folder


def estimate(spec: ModelSpec) -> int:
    from models.families.voxcpm.checkpoint import estimate

    return estimate(spec)


FAMILY = FamilyInfo(
    name="voxcpm",
    title="VoxCPM",
    licence="Apache-2.0 (package and weights, OpenBMB)",
    options={
        "checkpoint": Option(str, DEFAULT, "which published checkpoint to load when no path is given",
                             choices=tuple(CHECKPOINTS)),
        "prompt_cache_slots": Option(int, 1, "voices kept as encoded clip and prefilled state, 1 to 20 MB each", 0, 1000),
        "optimize": Option(bool, True, "compile the step functions; only has an effect on the first CUDA device"),
        "mem_saver": Option(bool, False, "give working memory back after each request, and compile nothing"),
    },
    create=create,
    fetch=fetch,
    estimate=estimate,
    clones=True,
    controls={
        "cfg_value": Option(float, 2.0, "guidance: higher follows text and voice more closely, lower is freer", 0.1, 10.0),
        "inference_timesteps": Option(int, 10, "diffusion steps per patch: fewer are faster, more are finer", 1, 100),
        "temperature": Option(float, 1.0, "scale of the noise every patch starts from: lower is calmer", 0.0, 2.0),
        "retry_badcase": Option(int, 0, "how often a segment that runs on is made anew before any of it is sent; "
                                        "0 streams at once and only cuts it off", 0, 10),
        "cloning": Option(str, "auto", "reference takes the voice alone, continuation (needs the clip's words) also its "
                                       "manner; auto continues where it can", choices=("auto", "reference", "continuation")),
        "instruction": Option(str, "", "VoxCPM 2: the voice or manner in words, as in: a young woman, gentle and cheerful"),
        "normalise": Option(bool, True, "read digits, dates, units and the like as words"),
    },
    published=tuple(Published(name, {"checkpoint": name}, known.parameters * 2 + known.vae_parameters * 4)
                    for name, known in sorted(CHECKPOINTS.items(), key=lambda one: one[0] != DEFAULT)),
    requires=("transformers", "torchaudio", "librosa", "einops"),
)
