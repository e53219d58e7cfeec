"""Random Pocket TTS checkpoints in the official layout: config.yaml, model.safetensors, tokenizer.json, embeddings/."""
from __future__ import annotations

import string
from pathlib import Path

import torch
import yaml
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, normalizers

from models.families.pocket_tts.checkpoint import Checkpoint, released
from models.families.pocket_tts.loading import load_official, untouched

SEANET = {"dimension": 32, "channels": 1, "n_filters": 4, "n_residual_layers": 1, "ratios": [6, 5, 4], "kernel_size": 7,
          "residual_kernel_size": 3, "last_kernel_size": 3, "dilation_base": 2, "pad_mode": "constant", "compress": 2}
TINY = {
    "default_temperature": 0.3,
    "flow_lm": {
        "insert_bos_before_voice": True, "dtype": "float32", "flow": {"depth": 1, "dim": 32},
        "transformer": {"d_model": 32, "hidden_scale": 2, "max_period": 10000, "num_heads": 2, "num_layers": 2},
        "lookup_table": {"dim": 32, "tokenizer": "tokenizers", "tokenizer_path": "tokenizer.json"},
    },
    "mimi": {
        "dtype": "float32", "sample_rate": 24000, "inner_dim": 8, "outer_dim": 32, "channels": 1, "frame_rate": 12.5,
        "seanet": SEANET, "quantizer": {"dimension": 8, "output_dimension": 32},
        "transformer": {"d_model": 32, "num_heads": 2, "num_layers": 1, "layer_scale": 0.01, "context": 50,
                        "dim_feedforward": 64, "input_dimension": 32, "output_dimensions": [32]},
    },
}


def tiny(path: Path, seed: int = 0, voices: tuple[str, ...] = ()) -> Path:
    """A checkpoint of some hundred kilobytes, with stock voices if named; returns its folder."""
    return make(path, yaml.safe_load(yaml.safe_dump(TINY)), 0, seed, voices)


def full_size(path: Path, checkpoint: str = "english", seed: int = 0, voices: tuple[str, ...] = ("alba",)) -> Path:
    """The released network's sizes (438 MB for english), for true costs a frame."""
    config = released(checkpoint, "full size")
    config.pop("weights_path", None)
    config.pop("weights_path_without_voice_cloning", None)
    config["flow_lm"]["lookup_table"] |= {"tokenizer": "tokenizers", "tokenizer_path": "tokenizer.json"}
    return make(path, config, config["flow_lm"]["lookup_table"]["n_bins"], seed, voices)


def make(path: Path, config: dict, entries: int = 0, seed: int = 0, voices: tuple[str, ...] = ()) -> Path:
    """A checkpoint of the network the configuration describes; entries: size of its vocabulary, if more than bytes."""
    path.mkdir(parents=True, exist_ok=True)
    config["flow_lm"]["lookup_table"]["n_bins"] = _tokenizer(path / "tokenizer.json", entries)
    local = yaml.safe_load(yaml.safe_dump(config))
    local["flow_lm"]["lookup_table"]["tokenizer_path"] = str(path / "tokenizer.json")
    with untouched():
        torch.manual_seed(seed)
        tts = _built(local)
        torch.nn.init.normal_(tts.flow_lm.speaker_proj_weight, std=0.1)
        tts.flow_lm.out_eos.bias.data.fill_(-8.0)  # a random network would end at once; tests move the threshold
        save_file({name: tensor.contiguous() for name, tensor in tts.state_dict().items()}, path / "model.safetensors")
        config["weights_path"] = "model.safetensors"
        (path / "config.yaml").write_text(yaml.safe_dump(config), "utf-8")
        _voices(tts, path / "embeddings", voices)
    return path


def _built(config: dict):
    """The network as the package builds it, from torch's random state as it stands."""
    from pocket_tts.models.mimi import build_mimi
    from pocket_tts.models.tts_model import TTSModel, stamp_state_names
    from pocket_tts.utils.config import Config

    checked = Config(**config)
    tts = TTSModel._from_pydantic_config(checked, checked.default_temperature, 1, None, checked.default_eos_threshold, None)
    width = checked.mimi.inner_dim or checked.mimi.seanet.dimension
    tts.flow_lm.speaker_proj_weight = torch.nn.Parameter(torch.zeros(checked.flow_lm.transformer.d_model, width))
    tts.mimi = build_mimi(checked.mimi).eval()
    stamp_state_names(tts)
    return tts


def _voices(tts, folder: Path, names: tuple[str, ...]) -> None:
    """Stock voices as the package exports them, each from 1.6 s of noise."""
    from pocket_tts import export_model_state

    for name in names:
        folder.mkdir(exist_ok=True)
        export_model_state(tts.get_state_for_audio_prompt(torch.randn(1, 38400) * 0.1), folder / f"{name}.safetensors")


def _tokenizer(file: Path, entries: int) -> int:
    """A byte-level vocabulary padded to `entries`; returns its size."""
    vocabulary: dict[str, int] = {}
    names = ["<unk>", "▁", *(f"<0x{byte:02X}>" for byte in range(256)), *string.printable.strip()]
    for name in [*names, *(f"<extra{number}>" for number in range(max(0, entries - len(set(names)))))]:
        vocabulary.setdefault(name, len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.save(str(file))
    return len(vocabulary)


def official(path: Path):
    """The package's own model of such a folder, to compare with."""
    config = yaml.safe_load((path / "config.yaml").read_text("utf-8"))
    config["weights_path"] = str(path / "model.safetensors")
    config["flow_lm"]["lookup_table"]["tokenizer_path"] = str(path / "tokenizer.json")
    return load_official(Checkpoint(path.name, path, config, "en", {}), "official")
