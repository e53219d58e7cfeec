"""The official network (PyPI package kokoro) on our weights, its noise drawn from our generator: the yardstick."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor

CONFIG = {
    "n_token": 178, "hidden_dim": 512, "style_dim": 128, "n_layer": 3, "max_dur": 50, "dropout": 0.2, "n_mels": 80,
    "text_encoder_kernel_size": 5, "vocab": {},
    "plbert": {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 2048, "num_hidden_layers": 12,
               "max_position_embeddings": 512, "dropout": 0.1},
    "istftnet": {"upsample_kernel_sizes": [20, 12], "upsample_rates": [10, 6], "gen_istft_hop_size": 5,
                 "gen_istft_n_fft": 20, "resblock_dilation_sizes": [[1, 3, 5]] * 3,
                 "resblock_kernel_sizes": [3, 7, 11], "upsample_initial_channel": 512},
}
MODULES = ("bert", "bert_encoder", "predictor", "text_encoder", "decoder")


def published_form(tensors: Mapping[str, Tensor], normed: set[str]) -> dict[str, dict[str, Tensor]]:
    """Our state dict as the official .pth holds it: a dict per module, `module.` before every name, weight norm
    unfolded for the parameters in `normed`, with the pooler the checkpoint carries but nothing uses."""
    result: dict[str, dict[str, Tensor]] = {module: {} for module in MODULES}
    for name, value in tensors.items():
        module, inner = name.split(".", 1)
        if name in normed:
            stem = "module." + inner.removesuffix(".weight")
            norm = value.norm(dim=tuple(range(1, value.ndim)), keepdim=True)
            # any positive scale of the direction is the same weight; rows that int8 rounded to nothing need one too
            direction = torch.where(norm > 0, value * 1.7, 1.0)
            result[module][stem + ".weight_g"], result[module][stem + ".weight_v"] = norm, direction
        else:
            result[module]["module." + inner] = value
    result["bert"]["module.pooler.weight"] = torch.zeros(768, 768)
    result["bert"]["module.pooler.bias"] = torch.zeros(768)
    return result


def weight_normed(model: torch.nn.Module) -> set[str]:
    """Names of the parameters that the official modules keep under weight norm."""
    return {name.removesuffix("_g") for name, _ in model.named_parameters() if name.endswith(".weight_g")}


def official_model(tensors: Mapping[str, Tensor], folder: Path):
    """-> KModel with our weights, and the checkpoint file it was loaded from."""
    from kokoro.model import KModel

    empty, file = folder / "empty.pth", folder / "kokoro-v1_0.pth"
    torch.save({}, empty)
    names = weight_normed(KModel(repo_id="local", config=CONFIG, model=str(empty)))
    torch.save(published_form(tensors, names), file)
    return KModel(repo_id="local", config=CONFIG, model=str(file)).eval(), file


def official_speech(model, ids: Tensor, style: Tensor, speed: float,
                    noise: Callable[[int], Tensor]) -> tuple[Tensor, Tensor]:
    """-> samples and durations. Our source draws one stream of noise where the official one draws one per harmonic:
    each harmonic gets the share of that stream which makes the merged signal the same."""
    weight = model.decoder.generator.m_source.l_linear.weight.detach()
    share = weight.flatten() / weight.norm()

    def randn_like(like: Tensor) -> Tensor:
        if like.shape[-1] == 1:  # the noise branch, which the official code computes and never uses
            return torch.zeros_like(like)
        return noise(like.shape[1]).view(1, -1, 1) * share

    with patch("torch.randn_like", randn_like):
        return model.forward_with_tokens(ids, style, speed)
