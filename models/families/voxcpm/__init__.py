"""voxcpm: VoxCPM 0.5B, 1.5 and 2 through the official package, streamed patch by patch, voices kept as prefilled state."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from models.families.controls import NORMALISE
from models.families.protocol import TORCH, FamilyInfo, Model, ModelSpec, Option, Published
from models.families.voxcpm.names import CHECKPOINTS, DEFAULT, LIBRARIES


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
    libraries={"torch": TORCH, "voxcpm": LIBRARIES - TORCH},
    clones=True,
    controls={
        "cfg_value": Option(float, 2.0, {
            "en": "guidance: higher follows text and voice more closely, lower is freer",
            "zh": "引导强度：越高越贴近文字和声音，越低越自由",
        }, 0.1, 10.0, label={"en": "Guidance (CFG)", "zh": "引导强度（CFG）"}),
        "inference_timesteps": Option(int, 10, {
            "en": "diffusion steps per patch: fewer are faster, more are finer", "zh": "每段的扩散步数：越少越快，越多越细致",
        }, 1, 100, label={"en": "Steps", "zh": "步数"}),
        "temperature": Option(float, 1.0, {
            "en": "scale of the noise every patch starts from: lower is calmer", "zh": "每段起始噪声的大小：越低越平稳",
        }, 0.0, 2.0, label={"en": "Temperature", "zh": "温度"}),
        "retry_badcase": Option(int, 0, {
            "en": "how often a segment that runs on is made anew before any of it is sent; 0 streams at once and only "
                  "cuts it off",
            "zh": "一段停不下来时，在发出之前重做的次数；0 表示立即流式输出，只截断",
        }, 0, 10, label={"en": "Retries", "zh": "重试次数"}),
        "cloning": Option(str, "auto", {
            "en": "reference takes the voice alone, continuation (needs the clip's words) also its manner; auto continues "
                  "where it can",
            "zh": "reference 只取音色；continuation（需要录音的文字）连说话方式一起；auto 能续接时就续接",
        }, choices=("auto", "reference", "continuation"), label={"en": "Cloning", "zh": "克隆方式"}),
        "instruction": Option(str, "", {
            "en": "VoxCPM 2: the voice or manner in words, as in: a young woman, gentle and cheerful",
            "zh": "VoxCPM 2：用文字描述声音或语气，例如：年轻女性，温柔开朗",
        }, label={"en": "Instruction", "zh": "指令"}),
        "normalise": NORMALISE,
    },
    published=tuple(Published(name, {"checkpoint": name}, known.parameters * 2 + known.vae_parameters * 4)
                    for name, known in sorted(CHECKPOINTS.items(), key=lambda one: one[0] != DEFAULT)),
    requires=("transformers", "torchaudio", "librosa", "einops"),
)
