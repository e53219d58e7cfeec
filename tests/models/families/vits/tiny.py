"""A tiny random multi-speaker VITS in the layout of Piper's exporter: same inputs, module names and noise nodes.

Random weights make no speech; the graph has every cut a real voice has (text encoder, duration noise, frame noise,
coupling flow and HiFi-GAN decoder both conditioned on the speaker).
"""
from __future__ import annotations

import json
import warnings
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

SYMBOLS = "_^$ .,?!abcdefghijklmnopqrstuvwxyzɪəɛʌʊæðŋɹˈˌː"
SPEAKERS = {"anna": 0, "ben": 1, "cleo": 2}
RATE, CHANNELS, SPEAKER_CHANNELS = 16_000, 16, 8


class TextEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(SYMBOLS), CHANNELS)
        self.conv = nn.Conv1d(CHANNELS, CHANNELS, 5, padding=2)
        self.proj = nn.Conv1d(CHANNELS, 2 * CHANNELS, 1)

    def forward(self, ids, lengths):
        x = self.emb(ids).transpose(1, 2)
        mask = (torch.arange(ids.size(1))[None] < lengths[:, None]).unsqueeze(1).to(x.dtype)
        x = torch.tanh(self.conv(x * mask)) * mask
        mean, log_scale = (self.proj(x) * mask).chunk(2, dim=1)
        return x, mean, log_scale, mask


class DurationPredictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = nn.Conv1d(CHANNELS + 2, CHANNELS, 3, padding=1)
        self.cond = nn.Conv1d(SPEAKER_CHANNELS, CHANNELS, 1)
        self.proj = nn.Conv1d(CHANNELS, 1, 1)

    def forward(self, x, mask, g, noise_scale):
        noise = torch.randn(x.size(0), 2, x.size(2)).type_as(x) * noise_scale
        hidden = torch.tanh(self.pre(torch.cat([x, noise], 1) * mask) + self.cond(g))
        return self.proj(hidden) * mask + 0.7


class Coupling(nn.Module):
    """One layer of the flow, run backwards: half of the channels shift the other half."""

    def __init__(self):
        super().__init__()
        half = CHANNELS // 2
        self.pre = nn.Conv1d(half, CHANNELS, 1)
        self.in_layer = nn.Conv1d(CHANNELS, 2 * CHANNELS, 5, padding=2)
        self.cond_layer = nn.Conv1d(SPEAKER_CHANNELS, 2 * CHANNELS, 1)
        self.post = nn.Conv1d(CHANNELS, half, 1)

    def forward(self, x, mask, g):
        first, second = torch.split(x, [CHANNELS // 2] * 2, 1)
        both = self.in_layer(self.pre(first) * mask) + self.cond_layer(g)
        hidden = torch.tanh(both[:, :CHANNELS]) * torch.sigmoid(both[:, CHANNELS:])
        return torch.cat([first, (second - self.post(hidden) * mask) * mask], 1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.flows = nn.ModuleList(Coupling() for _ in range(2))

    def forward(self, x, mask, g):
        for flow in self.flows:
            x = flow(torch.flip(x, [1]), mask, g)
        return x


class ResBlock(nn.Module):
    def __init__(self, channels, kernel):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv1d(channels, channels, kernel, padding=(kernel - 1) * step // 2, dilation=step) for step in (1, 3))

    def forward(self, x):
        for conv in self.convs:
            x = conv(F.leaky_relu(x, 0.1)) + x
        return x


class Decoder(nn.Module):
    def __init__(self, wide=32, rates=(4, 4, 2)):
        super().__init__()
        self.conv_pre = nn.Conv1d(CHANNELS, wide, 7, padding=3)
        self.cond = nn.Conv1d(SPEAKER_CHANNELS, wide, 1)
        self.ups, self.resblocks = nn.ModuleList(), nn.ModuleList()
        for rate in rates:
            self.ups.append(nn.ConvTranspose1d(wide, wide // 2, 2 * rate, rate, padding=rate // 2))
            wide //= 2
            self.resblocks.extend(ResBlock(wide, kernel) for kernel in (3, 5))
        self.conv_post = nn.Conv1d(wide, 1, 7, padding=3, bias=False)

    def forward(self, x, g):
        x = self.conv_pre(x) + self.cond(g)
        for index, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, 0.1))
            x = (self.resblocks[2 * index](x) + self.resblocks[2 * index + 1](x)) / 2
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


class TinyVits(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc_p, self.dp, self.flow, self.dec = TextEncoder(), DurationPredictor(), Flow(), Decoder()
        self.emb_g = nn.Embedding(len(SPEAKERS), SPEAKER_CHANNELS)

    def forward(self, text, lengths, scales, sid):
        noise_scale, length_scale, noise_w = scales[0], scales[1], scales[2]
        g = self.emb_g(sid).unsqueeze(-1)
        x, mean, log_scale, mask = self.enc_p(text, lengths)
        widths = torch.ceil(torch.exp(self.dp(x, mask, g, noise_w)) * mask * length_scale)
        total = torch.clamp_min(torch.sum(widths, [1, 2]), 1).long()
        frames = torch.arange(int(total.max()) if not torch.onnx.is_in_onnx_export() else total.max())
        frame_mask = (frames[None] < total[:, None]).unsqueeze(1).to(x.dtype)
        ends = torch.cumsum(widths, 2)
        path = ((frames[None, :, None] < ends) & (frames[None, :, None] >= ends - widths)).to(x.dtype)
        mean = torch.matmul(path, mean.transpose(1, 2)).transpose(1, 2)
        log_scale = torch.matmul(path, log_scale.transpose(1, 2)).transpose(1, 2)
        noisy = mean + torch.randn_like(mean) * torch.exp(log_scale) * noise_scale
        latent = self.flow(noisy, frame_mask, g)
        return self.dec(latent * frame_mask, g).unsqueeze(1)


def write_voice(folder: Path, name: str = "xx_XX-tiny-low") -> Path:
    """Writes NAME.onnx and NAME.onnx.json; returns the path of the former."""
    torch.manual_seed(0)
    file = folder / f"{name}.onnx"
    example = (torch.randint(0, len(SYMBOLS), (1, 20)), torch.tensor([20]), torch.tensor([0.667, 1.0, 0.8]),
               torch.tensor([1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            TinyVits().eval(), example, str(file), opset_version=15, dynamo=False,
            input_names=["input", "input_lengths", "scales", "sid"], output_names=["output"],
            dynamic_axes={"input": {0: "batch_size", 1: "phonemes"}, "input_lengths": {0: "batch_size"},
                          "output": {0: "batch_size", 1: "time"}})
    config = {
        "audio": {"sample_rate": RATE, "quality": "low"}, "espeak": {"voice": "en-us"},
        "language": {"code": "en_US"}, "phoneme_type": "espeak",
        "inference": {"noise_scale": 0.667, "length_scale": 1.0, "noise_w": 0.8},
        "phoneme_id_map": {symbol: [number] for number, symbol in enumerate(SYMBOLS)},
        "num_symbols": len(SYMBOLS), "num_speakers": len(SPEAKERS), "speaker_id_map": SPEAKERS,
    }
    Path(f"{file}.json").write_text(json.dumps(config), "utf-8")
    return file
