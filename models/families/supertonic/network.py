"""Supertonic's four graphs, run with the package's own text processor and noise of the request's own."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime as ort
import psutil

from models.families.protocol import ModelSpec
from models.families.supertonic.checkpoint import GRAPHS, broken, package, settings
from models.families.supertonic.styles import Style

INPUTS = {
    "duration_predictor": {"text_ids", "style_dp", "text_mask"},
    "text_encoder": {"text_ids", "style_ttl", "text_mask"},
    "vector_estimator": {"noisy_latent", "text_emb", "style_ttl", "text_mask", "latent_mask", "current_step", "total_step"},
    "vocoder": {"latent"},
}
PACE = 1.05  # the package's default speed: what our speed 1.0 stands for
LONGEST_START, LONGEST_CHARACTER = 3.0, 0.6  # seconds: a segment that is to last longer has run away


class Network:
    """Runs on the caller's thread. languages_marked: whether texts carry their language (all but the first release)."""

    def __init__(self, spec: ModelSpec, folder: Path, device: str, languages_marked: bool):
        package(spec.id)
        from supertonic.core import UnicodeProcessor

        found = settings(spec, folder)
        self.sample_rate = found["ae"]["sample_rate"]
        self._chunk = found["ae"]["base_chunk_size"] * found["ttl"]["chunk_compress_factor"]  # samples a latent column
        self._channels = found["ttl"]["latent_dim"] * found["ttl"]["chunk_compress_factor"]
        self._marked = languages_marked
        self._graphs = {name: _session(spec, folder, name, device) for name in GRAPHS}
        self._run = ort.RunOptions()
        if spec.options.get("mem_saver", False):
            self._run.add_run_config_entry("memory.enable_memory_arena_shrinkage", device.replace("cuda", "gpu") + (
                "" if ":" in device else ":0"))
        try:
            self._processor = UnicodeProcessor(str(folder / "onnx" / "unicode_indexer.json"))
        except ValueError as error:
            raise broken(spec, folder / "onnx" / "unicode_indexer.json", str(error).split(". ")[0]) from error
        self._readable = {char for char in self._processor.supported_character_set if ord(char) <= 0xFFFF}
        self.style_shapes = {
            "style_ttl": self._shape("text_encoder", "style_ttl"), "style_dp": self._shape("duration_predictor", "style_dp")}

    def _shape(self, graph: str, name: str) -> tuple:
        return tuple(next(item.shape for item in self._graphs[graph].get_inputs() if item.name == name))

    def readable(self, text: str) -> str:
        """The text without what the model has no sign for; "" when nothing is left to say."""
        cleaned = self._processor._preprocess_text(text) if text.strip() else ""
        cleaned = " ".join("".join(char if char in self._readable else " " for char in cleaned).split())
        return cleaned if any(char.isalnum() for char in cleaned) else ""

    def speak(self, text: str, language: str, style: Style, steps: int, speed: float,
              rng: np.random.Generator) -> Iterator[np.ndarray]:
        """float32 samples of one readable text. An empty array after each step before the last: a place to stop."""
        ids, mask = self._processor([text], language if self._marked else None)
        duration = self._stage("duration_predictor", text_ids=ids, style_dp=style.dp, text_mask=mask) / (PACE * speed)
        most = (LONGEST_START + LONGEST_CHARACTER * len(text)) / speed
        duration = np.nan_to_num(duration.reshape(-1), nan=most, posinf=most).clip(0.05, most).astype(np.float32)
        text_emb = self._stage("text_encoder", text_ids=ids, style_ttl=style.ttl, text_mask=mask)
        latent, latent_mask = self._noise(duration, rng)
        total = np.array([steps], np.float32)
        for step in range(steps):
            latent = self._stage("vector_estimator", noisy_latent=latent, text_emb=text_emb, style_ttl=style.ttl,
                                 text_mask=mask, latent_mask=latent_mask, current_step=np.array([step], np.float32),
                                 total_step=total)
            if step < steps - 1:
                yield np.zeros(0, np.float32)
        yield np.clip(self._stage("vocoder", latent=latent).reshape(-1), -1, 1).astype(np.float32, copy=False)

    def _noise(self, duration: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Noise (1, channels, columns) and its mask (1, 1, columns) for so many seconds, as the package sizes them."""
        samples = duration * self.sample_rate
        columns = int((samples.max() + self._chunk - 1) / self._chunk)
        used = (samples.astype(np.int64) + self._chunk - 1) // self._chunk
        mask = (np.arange(columns) < used[:, None]).astype(np.float32)[:, None]
        return rng.standard_normal((1, self._channels, columns), np.float32) * mask, mask

    def _stage(self, name: str, **values: np.ndarray) -> np.ndarray:
        return self._graphs[name].run(None, values, self._run)[0]


def _session(spec: ModelSpec, folder: Path, name: str, device: str) -> ort.InferenceSession:
    file = folder / "onnx" / f"{name}.onnx"
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = spec.options.get("threads", 0) or min(8, psutil.cpu_count(logical=False) or 1)
    providers: list = ["CPUExecutionProvider"]
    if device != "cpu":
        providers.insert(0, ("CUDAExecutionProvider", {"device_id": int(device.partition(":")[2])}))
    try:
        session = ort.InferenceSession(str(file), options, providers=providers)
    except Exception as error:  # onnxruntime raises a kind of its own for each fault
        raise broken(spec, file, str(error).strip().splitlines()[0][:300]) from error
    found = {item.name for item in session.get_inputs()}
    if found != INPUTS[name]:
        lacking, extra = sorted(INPUTS[name] - found), sorted(found - INPUTS[name])
        raise broken(spec, file, f"it is another graph (missing inputs: {', '.join(lacking) or 'none'}; "
                                 f"unexpected: {', '.join(extra) or 'none'})")
    return session
