"""What the engine makes is what the official package makes from the same checkpoint, clip, text and seed."""
from __future__ import annotations

import json

import pytest
import soundfile
import torch

from models.families.voxcpm.checkpoint import open_checkpoint
from models.families.voxcpm.decoder import StreamingDecoder
from models.families.voxcpm.engine import Engine, Sampling
from models.families.voxcpm.loading import load
from models.families.voxcpm.official import official
from tests.checkpoints.make_voxcpm import VERSIONS
from tests.models.families.voxcpm.conftest import WORDS, clip_of

TEXT = "Hello there."
PATCHES = 10
MODES = [(version, mode) for version in VERSIONS for mode in ("alone", "continuation", *["reference"] * (version == "2"))]


@pytest.fixture(scope="module")
def pair(checkpoint):
    """pair(version): our engine, and the package's own model loaded by the package."""
    made = {}

    def make(version):
        if version not in made:
            opened = open_checkpoint(checkpoint(version, ends=False), "test")
            # the package takes the number format from the file alone
            (opened.folder / "config.json").write_text(json.dumps(opened.config | {"dtype": "float32"}), "utf-8")
            with torch.random.fork_rng(devices=[]):
                theirs = official(opened.architecture).network.from_local(str(opened.folder), optimize=False, device="cpu")
            made[version] = Engine(load(opened, "test", "cpu", "float32")), theirs
        return made[version]

    return make


def official_cache(theirs, engine: Engine, mode: str, tmp_path):
    """As the package builds it, from a sound file at the rate it wants."""
    if mode == "alone":
        return None
    clip = clip_of(1, rate=engine.clip_rate)
    file = str(tmp_path / "clip.wav")
    soundfile.write(file, clip.samples, clip.sample_rate, subtype="FLOAT")
    if not engine.second:
        return {"prompt_text": WORDS, "audio_feat": engine.encode(clip.samples, pad_left=True)}  # its reader needs a codec
    if mode == "reference":
        return theirs.build_prompt_cache(reference_wav_path=file)
    return theirs.build_prompt_cache(prompt_text=WORDS, prompt_wav_path=file, reference_wav_path=file)


@pytest.mark.parametrize(("version", "mode"), MODES)
def test_patches_and_sound_equal_the_packages(pair, version, mode, tmp_path):
    engine, theirs = pair(version)
    clip = clip_of(1, rate=engine.clip_rate)
    voice = None if mode == "alone" else engine.voice(clip.samples, "" if mode == "reference" else WORDS)
    continues = mode == "continuation"
    noise = torch.Generator().manual_seed(3)
    utterance = engine.utterance(TEXT, voice, continues, Sampling(2.0, 10, 1.0, noise))
    decoder = engine.decoder(voice, continues, noise)
    patches = [utterance.patch() for _ in range(PATCHES)]
    sound = torch.cat([decoder.decode(patch) for patch in patches])

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        wave, _, latents = theirs.generate_with_prompt_cache(
            TEXT, official_cache(theirs, engine, mode, tmp_path), max_len=PATCHES, cfg_value=2.0, inference_timesteps=10)
    ours = torch.cat([patch.transpose(1, 2) for patch in patches])
    torch.testing.assert_close(ours, latents[-PATCHES:], atol=1e-4, rtol=1e-4)
    wave = wave.reshape(-1)[-len(sound):]
    if version == "2" or mode == "alone":
        torch.testing.assert_close(sound, wave, atol=1e-4, rtol=0)
    else:  # the package's older decoder gets one patch less of the clip as context: the start differs by that
        torch.testing.assert_close(sound[len(sound) // 2:], wave[len(wave) // 2:], atol=1e-3, rtol=0)


@pytest.mark.parametrize("version", VERSIONS)
def test_streamed_sound_equals_decoding_all_at_once(pair, version):
    engine, theirs = pair(version)
    latents = torch.randn(1, 64, 12 * engine.patch_frames, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        whole = theirs.audio_vae.decode(latents).reshape(-1)
    for frames in (1, engine.patch_frames, 5 * engine.patch_frames):
        decoder = StreamingDecoder(engine.network.audio_vae)
        streamed = torch.cat([decoder.decode(piece) for piece in latents.split(frames, dim=-1)])
        torch.testing.assert_close(streamed, whole, atol=1e-5, rtol=0)
    assert engine.patch_seconds == pytest.approx(0.08 if version == "0.5b" else 0.16)


@pytest.mark.parametrize("version", VERSIONS)
def test_without_context_there_would_be_a_click_every_patch(pair, version):
    """The fault the decoder's memory is there for: it must show where the memory is taken away."""
    engine, _ = pair(version)
    latents = torch.randn(1, 64, 6 * engine.patch_frames, generator=torch.Generator().manual_seed(0))
    decoder = StreamingDecoder(engine.network.audio_vae)
    good = torch.cat([decoder.decode(piece) for piece in latents.split(engine.patch_frames, dim=-1)])
    bad = torch.cat([StreamingDecoder(engine.network.audio_vae).decode(piece)
                     for piece in latents.split(engine.patch_frames, dim=-1)])
    borders = torch.arange(1, 6) * engine.patch_samples
    assert (good - bad)[borders].abs().max() > 1e-3


@pytest.mark.parametrize("version", VERSIONS)
def test_tokens_are_those_of_the_package(pair, version):
    engine, theirs = pair(version)
    for text in ("Hello there.", "It costs 5.", "你好，世界", "naïve 🎉"):
        assert engine.tokens(text) == theirs.text_tokenizer(text)
