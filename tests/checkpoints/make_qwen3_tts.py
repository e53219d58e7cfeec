"""Random Qwen3-TTS (12 Hz) checkpoints in the published layout: tiny ones for tests, full-size ones to measure."""
from __future__ import annotations

import json
import math
from pathlib import Path

import torch
from safetensors.torch import save_file

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tts_pad>", "<tts_text_bos>", "<tts_text_eod>")
SIZES = {  # hidden size of the talker, of its feed-forward layers; the rest is the same in both
    "0b6": (1024, 3072),
    "1b7": (2048, 6144),
}
LANGUAGES = {"chinese": 55, "english": 50, "german": 53, "japanese": 58, "korean": 64, "beijing_dialect": 74}
SPEAKERS = {"vivian": 900, "ryan": 901, "ono_anna": 902, "dylan": 903}
ENDS_AFTER_SOUNDS = 100  # the code that ends speech is so far behind those of sounds
DIALECTS = {"vivian": False, "ryan": False, "ono_anna": False, "dylan": "beijing_dialect"}


def tiny(path: Path, kind: str = "base", size: str = "1b7", seed: int = 0, positions: int = 4096,
         dtype: torch.dtype = torch.float32) -> Path:
    """A checkpoint of a few MB whose output depends strongly on text, voice and instruction. kind: "base",
    "custom_voice" or "voice_design". positions: the talker's context. About 1 frame in 60 ends the speech."""
    codebook, groups = 64, 4
    talker = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
        "num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": positions, "text_hidden_size": 32,
        "text_vocab_size": 512, "rope_scaling": _rope([4, 2, 2]),
    }
    predictor = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
        "num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": 512,
    }
    speaker = {"enc_dim": 32, "enc_channels": [16, 16, 16, 16, 48], "enc_attention_channels": 8, "enc_res2net_scale": 2,
               "enc_se_channels": 8}
    encoder = {
        "hidden_size": 32, "num_filters": 4, "codebook_size": codebook, "codebook_dim": 16,
        "vector_quantization_hidden_dimension": 16, "num_quantizers": groups, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 64,
        "upsample_groups": 32, "rope_theta": 10000.0,
    }
    decoder = {
        "codebook_size": codebook, "codebook_dim": 32, "hidden_size": 32, "latent_dim": 32, "num_attention_heads": 2,
        "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_quantizers": groups, "sliding_window": 12, "decoder_dim": 32,
    }
    return _write(path, kind, size, seed, codebook, groups, talker, predictor, speaker, encoder, decoder, dtype, 64)


def full_size(path: Path, kind: str = "custom_voice", size: str = "0b6", seed: int = 0) -> Path:
    """As large as the published one (2.5 GB for "0b6", 4.5 GB for "1b7"), so that a frame costs what it does there."""
    hidden, feed = SIZES[size]
    heads = {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128}
    talker = {
        "hidden_size": hidden, "intermediate_size": feed, "num_hidden_layers": 28, **heads,
        "max_position_embeddings": 32768, "text_hidden_size": 2048, "text_vocab_size": 151936,
        "rope_scaling": _rope([24, 20, 20]),
    }
    predictor = {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 5, **heads}
    decoder = {"hidden_size": 512, "intermediate_size": 1024, "codebook_dim": 512, "head_dim": 64}
    return _write(path, kind, size, seed, 2048, 16, talker, predictor, {"enc_dim": hidden},
                  {"rope_theta": 10000.0}, decoder, torch.bfloat16, 2048)


def _rope(sections: list[int]) -> dict:
    return {"interleaved": True, "mrope_section": sections, "rope_type": "default", "type": "default"}


def _write(path: Path, kind: str, size: str, seed: int, codebook: int, groups: int, talker: dict, predictor: dict,
           speaker: dict, encoder: dict, decoder: dict, dtype: torch.dtype, longest: int) -> Path:
    base = codebook + ENDS_AFTER_SOUNDS  # codec tokens that are no sound
    talker = {
        **talker, "vocab_size": codebook + 1024, "num_code_groups": groups, "rope_theta": 1000000,
        "codec_eos_token_id": base, "codec_think_id": base + 1, "codec_nothink_id": base + 2,
        "codec_think_bos_id": base + 3, "codec_think_eos_id": base + 4, "codec_pad_id": base + 5,
        "codec_bos_id": base + 6,
        "codec_language_id": {name: base + number for name, number in LANGUAGES.items()},
        "spk_id": {name: codebook + number for name, number in SPEAKERS.items()} if kind == "custom_voice" else {},
        "spk_is_dialect": DIALECTS if kind == "custom_voice" else {},
        "code_predictor_config": {**predictor, "vocab_size": codebook, "num_code_groups": groups,
                                  "rope_theta": 1000000},
    }
    config = {
        "architectures": ["Qwen3TTSForConditionalGeneration"], "model_type": "qwen3_tts", "tts_model_type": kind,
        "tts_model_size": size, "tokenizer_type": "qwen3_tts_tokenizer_12hz", "im_start_token_id": 257,
        "im_end_token_id": 258, "tts_pad_token_id": 259, "tts_bos_token_id": 260, "tts_eos_token_id": 261,
        "talker_config": talker,
    }
    if kind == "base":
        config["speaker_encoder_config"] = {**speaker, "sample_rate": 24000}
    codec = {
        "architectures": ["Qwen3TTSTokenizerV2Model"], "model_type": "qwen3_tts_tokenizer_12hz",
        "encoder_valid_num_quantizers": groups, "encoder_config": encoder, "decoder_config": decoder,
    }
    (path / "speech_tokenizer").mkdir(parents=True, exist_ok=True)
    _text_tokenizer(path)
    _json(path / "config.json", config)
    _json(path / "generation_config.json", {
        "do_sample": True, "top_k": 50, "top_p": 1.0, "temperature": 0.9, "repetition_penalty": 1.05,
        "subtalker_top_k": 50, "subtalker_dosample": True, "subtalker_top_p": 1.0, "subtalker_temperature": 0.9,
        "max_new_tokens": longest,
    })
    _json(path / "speech_tokenizer" / "config.json", codec)
    _json(path / "speech_tokenizer" / "preprocessor_config.json", {
        "feature_extractor_type": "EncodecFeatureExtractor", "feature_size": 1, "padding_side": "right",
        "padding_value": 0.0, "return_attention_mask": True, "sampling_rate": 24000,
    })
    _weights(path, config, codec, seed, dtype)
    return path


def _weights(path: Path, config: dict, codec: dict, seed: int, dtype: torch.dtype) -> None:
    from models.families.qwen3_tts.package import import_package

    import_package()
    from qwen_tts.core import Qwen3TTSTokenizerV2Config, Qwen3TTSTokenizerV2Model
    from qwen_tts.core.models import Qwen3TTSConfig, Qwen3TTSForConditionalGeneration

    generator = torch.Generator().manual_seed(seed)
    with torch.device("meta"):
        model = Qwen3TTSForConditionalGeneration(Qwen3TTSConfig(**json.loads(json.dumps(config))))
        tokenizer = Qwen3TTSTokenizerV2Model(Qwen3TTSTokenizerV2Config(**json.loads(json.dumps(codec))))
    _save(model, path / "model.safetensors", generator, dtype)
    _save(tokenizer, path / "speech_tokenizer" / "model.safetensors", generator, torch.float32)


def _save(model: torch.nn.Module, path: Path, generator: torch.Generator, dtype: torch.dtype) -> None:
    tensors = {}
    for name, tensor in model.state_dict().items():
        value = _random(name, tuple(tensor.shape), generator)
        tensors[name] = value.to(dtype) if tensor.is_floating_point() else value.to(tensor.dtype)
    save_file(tensors, path, metadata={"format": "pt"})


def _random(name: str, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Values large enough that every part is heard in the output: a part left out of a computation is a failed test."""
    last = name.rsplit(".", 1)[-1]
    noise = torch.randn(shape, generator=generator)
    if "codec_head" in name:
        noise[ENDS_AFTER_SOUNDS - 1024] *= 0.8  # the end comes seldom: 10 to 60 frames
    if last == "initialized":
        return torch.ones(shape)
    if last == "cluster_usage":
        return 1 + noise.abs()
    if last in ("scale", "gamma"):  # residual branches
        return 0.3 + 0.1 * noise
    if last in ("alpha", "beta"):  # log-scale of the snake activations
        return 0.1 * noise
    if "q_norm" in name or "k_norm" in name:  # sharp attention: one token of the prompt can be heard
        return 2 + 0.1 * noise
    if "norm" in name and last == "weight":
        return 1 + 0.1 * noise
    if last == "bias" or "layer_scale" in name:
        return 0.1 * noise
    if "embedding" in name or "embed" in last:
        return noise
    gain = 1.0
    if "o_proj" in name:
        gain = 3.0
    elif "codec_head" in name or "lm_head" in name:
        gain = 4.0
    elif "decoder" in name and last == "weight" and len(shape) == 3 and shape[0] == 1:  # the last one: no clipping
        gain = 0.012
    return noise * gain / math.sqrt(max(1, math.prod(shape[1:])))


def _text_tokenizer(path: Path) -> None:
    """Every byte is a token; "assistant" and "user" must be one each, for the package counts on it."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    shown = [chr(byte) for byte in plain] + [chr(256 + number) for number in range(len(others))]
    _json(path / "vocab.json", {char: number for number, char in enumerate(shown)})
    (path / "merges.txt").write_text("#version: 0.2\n", "utf-8")
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    added = {str(256 + number): {"content": token, "special": token in SPECIAL, **flags}
             for number, token in enumerate((*SPECIAL, "assistant", "user"))}
    _json(path / "tokenizer_config.json", {
        "tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": added, "additional_special_tokens": SPECIAL[1:],
        "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None, "bos_token": None,
        "errors": "replace", "add_bos_token": False, "split_special_tokens": False, "model_max_length": 32768,
        "processor_class": "Qwen3TTSProcessor",
    })


def _json(path: Path, data: dict) -> None:
    path.write_text(json.dumps(data, indent=1), "utf-8")
