"""Random VoxCPM checkpoints in the official layout: config.json, tokenizer.json, model.safetensors, audiovae.pth."""
from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from models.families.voxcpm.checkpoint import open_checkpoint
from models.families.voxcpm.engine import Engine, Sampling
from models.families.voxcpm.loading import Unfilled, load
from models.families.voxcpm.official import official

VERSIONS = ("0.5b", "1.5", "2")
MARKS = ("<|audio_start|>", "<|audio_end|>", "<|ref_audio_start|>", "<|ref_audio_end|>")  # ids 101 to 104
TINY_VAE = {
    "0.5b": {"encoder_dim": 8, "encoder_rates": [2, 5, 8, 8], "decoder_dim": 64, "decoder_rates": [8, 8, 5, 2],
             "sample_rate": 16000},
    "1.5": {"encoder_dim": 4, "encoder_rates": [2, 3, 6, 7, 7], "decoder_dim": 64, "decoder_rates": [7, 7, 6, 3, 2],
            "sample_rate": 44100},
    "2": {"encoder_dim": 8, "encoder_rates": [2, 5, 8, 8], "decoder_dim": 64, "decoder_rates": [8, 6, 5, 2, 2, 2],
          "sample_rate": 16000, "out_sample_rate": 48000, "sr_bin_boundaries": [20000, 30000, 40000], "cond_dim": 16},
}
FULL_VAE = {
    "0.5b": {"encoder_dim": 128, "encoder_rates": [2, 5, 8, 8], "decoder_dim": 1536, "decoder_rates": [8, 8, 5, 2],
             "sample_rate": 16000},
    "1.5": {"encoder_dim": 64, "encoder_rates": [2, 3, 6, 7, 7], "decoder_dim": 2048, "decoder_rates": [7, 7, 6, 3, 2],
            "sample_rate": 44100},
    "2": {"encoder_dim": 128, "encoder_rates": [2, 5, 8, 8], "decoder_dim": 2048, "decoder_rates": [8, 6, 5, 2, 2, 2],
          "sample_rate": 16000, "out_sample_rate": 48000, "sr_bin_boundaries": [20000, 30000, 40000]},
}
FULL = {  # width, feed-forward width, layers of the language model, of the residual one, of encoder and diffusion
    "0.5b": (1024, 4096, 24, 6, 4),
    "1.5": (1024, 4096, 24, 8, 8),
    "2": (2048, 6144, 28, 8, 12),
}


def tiny(path: Path, version: str, seed: int = 0, ends: bool = True, max_length: int = 512) -> Path:
    """A checkpoint of 2 MB; returns its folder. ends: its speech stops by itself after a dozen patches or so, at random;
    else it never does."""
    path.mkdir(parents=True, exist_ok=True)
    _letter_tokenizer(path)
    _write(path, _config(version, Tokenizer.from_file(str(path / "tokenizer.json")).get_vocab_size(), 64, 128, 2, 1, 1, 16,
                         TINY_VAE[version], max_length), seed)
    if ends:
        _teach_to_end(path)
    return path


def full_size(path: Path, version: str, seed: int = 0) -> Path:
    """The published sizes (1.4 GB for 0.5b, 1.8 GB for 1.5, 4.8 GB for 2), for true costs a patch. Speech never ends."""
    path.mkdir(parents=True, exist_ok=True)
    _word_tokenizer(path)
    width, inner, layers, residual, local = FULL[version]
    head = 128 if version == "2" else 64
    _write(path, _config(version, 73448, width, inner, layers, residual, local, head, FULL_VAE[version],
                         4096 if version == "0.5b" else 8192), seed)
    return path


def _config(version: str, vocabulary: int, width: int, inner: int, layers: int, residual: int, local: int, head: int,
            vae: dict[str, Any], max_length: int) -> dict[str, Any]:
    rope = {"type": "longrope", "long_factor": [1.0] * (head // 2), "short_factor": [1.0] * (head // 2),
            "original_max_position_embeddings": 32768}
    lm = {"bos_token_id": 1, "eos_token_id": 2, "hidden_size": width, "intermediate_size": inner,
          "max_position_embeddings": 32768, "num_attention_heads": width // head, "num_hidden_layers": layers,
          "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "rope_scaling": rope, "vocab_size": vocabulary, "use_mup": False,
          "scale_emb": 12, "dim_model_base": 256, "scale_depth": 1.4, "rope_theta": 10000, "kv_channels": head}
    small = min(width, 1024)
    block = {"hidden_dim": small, "ffn_dim": min(inner, 4096), "num_heads": 16 if small == 1024 else 4, "num_layers": local,
             "kv_channels": head}
    flow = {"sigma_min": 1e-6, "solver": "euler", "t_scheduler": "log-norm", "inference_cfg_rate": 2.0}
    config = {
        "architecture": "voxcpm2" if version == "2" else "voxcpm", "lm_config": lm, "patch_size": 2 if version == "0.5b" else 4,
        "feat_dim": 64, "residual_lm_num_layers": residual, "scalar_quantization_latent_dim": width // 4 if width > 64 else 32,
        "scalar_quantization_scale": 9, "encoder_config": block, "dit_config": block | {"cfm_config": flow},
        "audio_vae_config": {"latent_dim": 64} | vae, "max_length": max_length, "device": "cuda", "dtype": "bfloat16",
    }
    return config | ({"residual_lm_no_rope": True} if version == "2" else {})


def _write(path: Path, config: dict[str, Any], seed: int) -> None:
    (path / "config.json").write_text(json.dumps(config, indent=1), "utf-8")
    package = official(config["architecture"])
    tokenizer = PreTrainedTokenizerFast.from_pretrained(str(path))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        vae = package.vae(package.vae_config.model_validate(config["audio_vae_config"]))
        with Unfilled():
            network = package.network(package.config.model_validate(config), tokenizer, vae, None, device="cpu")
        weights = {name: _random(name, weight.shape) for name, weight in network.state_dict().items()
                   if not name.startswith("audio_vae.")}
    save_file(weights, path / "model.safetensors")
    torch.save({"state_dict": vae.state_dict()}, path / "audiovae.pth")


def _random(name: str, shape: torch.Size) -> torch.Tensor:
    weight = torch.zeros(shape, dtype=torch.bfloat16)
    if name.endswith("norm.weight") and len(shape) == 1:
        return weight.fill_(1.0)
    if name.startswith("stop_head"):
        return weight  # the signs for going on and for stopping are level: it goes on
    return weight.normal_(0.0, shape[-1] ** -0.5 if len(shape) > 1 else 0.02)


def _teach_to_end(path: Path) -> None:
    """Give the stop head a direction in which about one step in ten lies far out."""
    engine = Engine(load(open_checkpoint(path, "tiny"), "tiny", "cpu", "float32"))
    sampling = Sampling(2.0, 10, 1.0, torch.Generator().manual_seed(0))
    utterance = engine.utterance("The quick brown fox jumps over the lazy dog.", None, False, sampling)
    seen = []
    with torch.inference_mode():
        for _ in range(60):
            utterance.patch()
            seen.append(engine.network.stop_actn(engine.network.stop_proj(utterance.hidden))[0].clone())
    states = torch.stack(seen)
    mean = states.mean(0)
    direction = torch.linalg.svd(states - mean, full_matrices=False)[2][0]
    direction -= mean * (direction @ mean) / (mean @ mean)
    border = (states @ direction).quantile(0.9)
    weights = load_file(path / "model.safetensors")
    weights["stop_head.weight"][1] = 10 * (direction - mean * border / (mean @ mean))
    save_file(weights, path / "model.safetensors")


def _letter_tokenizer(path: Path) -> None:
    """Every printable ASCII character, the bytes of all others, and the reserved ids where the package expects them."""
    pieces = ["<unk>", "<s>", "</s>"] + [f"<reserved_{number}>" for number in range(3, 101)] + list(MARKS)
    pieces += [f"<0x{number:02X}>" for number in range(256)] + ["\u2581", *string.printable.strip()]
    model = models.BPE(vocab={piece: number for number, piece in enumerate(dict.fromkeys(pieces))}, merges=[],
                       unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    _save(Tokenizer(model), path)


def _word_tokenizer(path: Path) -> None:
    """Learnt from English prose, so that a text takes about as many tokens as with the published one."""
    from pydoc_data.topics import topics

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<unk>", "<s>", "</s>"] + [f"<reserved_{number}>" for number in range(3, 101)] + list(MARKS)
    special += [f"<0x{number:02X}>" for number in range(256)]
    tokenizer.train_from_iterator(topics.values(), trainers.BpeTrainer(vocab_size=12000, special_tokens=special,
                                                                      show_progress=False))
    tokenizer.save(str(path / "tokenizer.json"))
    _describe(path)


def _save(tokenizer: Tokenizer, path: Path) -> None:
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>", *MARKS])
    tokenizer.save(str(path / "tokenizer.json"))
    _describe(path)


def _describe(path: Path) -> None:
    about = {"tokenizer_class": "LlamaTokenizerFast", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>",
             "add_bos_token": True, "clean_up_tokenization_spaces": False}
    (path / "tokenizer_config.json").write_text(json.dumps(about), "utf-8")
