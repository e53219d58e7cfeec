"""One side of `bench families` in a process of its own: `python -m benchmarks.families SETTINGS` answers one line of JSON.

SETTINGS is JSON: family, folder (a checkpoint), side ("ours", "package"), rounds, seconds (of sound a measurement makes;
0: only the first), clip_seconds. The answer holds load_s, memory_mb (resident, after all), and lists of [TTFA in
seconds, RTF of what follows] under "plain" (no clip), "uncached" and "cached" (a cloned voice's first and later requests;
for the package: its state made in every call, and kept).
"""
from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from models.events import AudioChunk, SpeechRequest
from models.families import family
from models.families.options import defaults_of
from models.families.protocol import ModelSpec
from models.memory import resident_bytes
from models.session import Session
from models.voices.clip import Clip

TEXT = "The ships in the harbour wait for the wind to turn."
WORDS = "These are the words that are spoken in the clip, and they take a few seconds to say."
RATE = 16_000
Stream = Callable[[], Iterator[np.ndarray]]


def hum(seconds: float, number: int) -> Clip:
    """A clip of its own for each number."""
    turns = 2 * np.pi * (120 + 5 * number) * np.arange(round(seconds * RATE)) / RATE
    return Clip((0.2 * np.sin(turns)).astype(np.float32), RATE, WORDS)


def measured(stream: Stream, rate: int, seconds: float) -> tuple[float, float | None]:
    """Seconds to the first chunk, and RTF of the next `seconds` of sound."""
    began = time.perf_counter()
    chunks = stream()
    next(chunks)
    first, made = time.perf_counter(), 0
    while made < seconds * rate and (chunk := next(chunks, None)) is not None:
        made += len(chunk)
    last = time.perf_counter()
    chunks.close()
    return first - began, (last - first) * rate / made if made else None


def ours(settings: dict[str, Any]) -> dict[str, Any]:
    options = defaults_of(family(settings["family"]).options)
    began = time.perf_counter()
    session = Session(ModelSpec("bench", settings["family"], Path(settings["folder"]), options=options))
    session.start()
    session.wait_ready()
    loaded = time.perf_counter() - began

    def stream(clip: Clip | None) -> Stream:
        def speak() -> Iterator[np.ndarray]:
            events = session.stream(SpeechRequest(TEXT, seed=1, clip=clip))
            try:
                yield from (event.samples for event in events if isinstance(event, AudioChunk))
            finally:
                events.close()
                while session.worker.counts() != (0, 0):
                    time.sleep(0.005)
        return speak

    rate, rounds, seconds = session.model.sample_rate, settings["rounds"], settings["seconds"]
    taken: dict[str, list] = {"plain": [], "uncached": [], "cached": []}
    for number in range(rounds):
        clip = hum(settings["clip_seconds"], number)
        taken["plain"].append(measured(stream(None), rate, seconds))
        taken["uncached"].append(measured(stream(clip), rate, seconds))
        taken["cached"].append(measured(stream(clip), rate, seconds))
    answer = {"load_s": loaded, "memory_mb": resident_bytes() / 1e6, "device": session.model.device,
              "precision": session.model.precision, **taken}
    session.close()
    return answer


def official_voxcpm(folder: Path, device: str, optimize: bool):
    """The VoxCPM package's own model, its progress bar off."""
    from models.families.voxcpm.checkpoint import open_checkpoint
    from models.families.voxcpm.official import official

    kind = official(open_checkpoint(folder, "bench").architecture).network
    importlib.import_module(kind.__module__).tqdm = lambda steps: steps
    return kind.from_local(str(folder), optimize=optimize, device=device)


class VoxCPM:
    """The package as its documentation calls it, but for the clip's samples in place of a file: its reader wants FFmpeg."""

    def __init__(self, folder: str):
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        self._network = official_voxcpm(Path(folder), device, optimize=device == "cuda")
        vae = self._network.audio_vae
        self.rate = getattr(vae, "out_sample_rate", vae.sample_rate)

    def state(self, clip: Clip) -> dict[str, Any]:
        import torch

        from models.audio.resample import resample

        vae, patch = self._network.audio_vae, self._network.patch_size
        samples = resample(clip.samples, clip.sample_rate, vae.sample_rate)
        samples = np.pad(samples, (-len(samples) % (patch * vae.chunk_size), 0))
        with torch.inference_mode():
            latents = vae.encode(torch.from_numpy(samples).to(next(vae.parameters()).device)[None], vae.sample_rate).cpu()
        return {"prompt_text": clip.transcript,
                "audio_feat": latents[0].reshape(vae.latent_dim, -1, patch).permute(1, 2, 0).contiguous()}

    def speak(self, state: dict[str, Any]) -> Iterator[np.ndarray]:
        for sound, *_ in self._network.generate_with_prompt_cache_streaming(TEXT, state):
            yield sound.reshape(-1).float().cpu().numpy()


class PocketTTS:
    """The package as its documentation calls it."""

    def __init__(self, folder: str):
        from models.families.pocket_tts.checkpoint import find
        from models.families.pocket_tts.loading import load_official

        options = defaults_of(family("pocket_tts").options)
        self._tts = load_official(find(ModelSpec("bench", "pocket_tts", Path(folder), options=options)), "bench")
        self.rate = self._tts.sample_rate

    def state(self, clip: Clip) -> Any:
        import torch

        from models.audio.resample import resample

        return self._tts.get_state_for_audio_prompt(torch.from_numpy(resample(clip.samples, clip.sample_rate, self.rate))[None])

    def speak(self, state: Any) -> Iterator[np.ndarray]:
        for chunk in self._tts.generate_audio_stream(state, TEXT):
            yield chunk.reshape(-1).float().cpu().numpy()


def package(settings: dict[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    engine = {"voxcpm": VoxCPM, "pocket_tts": PocketTTS}[settings["family"]](settings["folder"])
    loaded = time.perf_counter() - began
    taken: dict[str, list] = {"uncached": [], "cached": []}
    for number in range(settings["rounds"]):
        clip, kept = hum(settings["clip_seconds"], number), {}

        def anew() -> Iterator[np.ndarray]:
            kept["state"] = engine.state(clip)
            yield from engine.speak(kept["state"])

        taken["uncached"].append(measured(anew, engine.rate, settings["seconds"]))
        taken["cached"].append(measured(lambda: engine.speak(kept["state"]), engine.rate, settings["seconds"]))
    return {"load_s": loaded, "memory_mb": resident_bytes() / 1e6, **taken}


if __name__ == "__main__":
    chosen = json.loads(sys.argv[1])
    with contextlib.redirect_stdout(io.StringIO()):  # packages that print
        told = {"ours": ours, "package": package}[chosen["side"]](chosen)
    print(json.dumps(told), flush=True)
    os._exit(0)  # the Pocket package's own threads, left in the middle of a stream, would abort the process
