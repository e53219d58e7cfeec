"""Named endpoints for gradio_client: /speak gives a file, /stream pieces as they are made, /models what there is.

    from gradio_client import Client
    print(Client("http://127.0.0.1:6006/").predict("Hello there.", api_name="/speak"))
"""
from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import gradio as gr
from gradio.data_classes import FileData
from gradio.processing_utils import save_bytes_to_cache

from models.errors import SpeechError

KEPT, MOST = 600.0, 256 << 20  # seconds and bytes that made files stay for their clients to fetch


class Calls(Protocol):
    """What makes the sound; `caller` is the HTTP request that asks."""

    def models(self) -> dict[str, Any]: ...
    def sentence(self, error: SpeechError, caller: Any) -> str: ...
    async def speak(self, caller: Any, **fields: Any) -> Any: ...
    def stream(self, caller: Any, **fields: Any) -> AsyncIterator[dict[str, Any]]: ...


def add_endpoints(page: gr.Blocks, calls: Calls) -> None:
    """Call it inside `page`'s context."""
    folder = Path(tempfile.mkdtemp(prefix="readyvoice-files-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    page.GRADIO_CACHE = str(folder)  # what lies elsewhere is not given out

    async def speak(text: str, voice: str = "", model: str = "", language: str = "auto", speed: float = 1.0,
                    seed: int | None = None, options: dict = {}, request: gr.Request = None) -> FileData:
        """Speak a text into a WAV file."""
        caller = request.request
        try:
            spoken = await calls.speak(caller, text=text, voice=voice, model=model, language=language,
                                       speed=float(speed), seed=seed, options=options)
        except SpeechError as error:
            raise _told(error, calls, caller) from None
        _sweep(folder, len(spoken.wav))
        path = save_bytes_to_cache(spoken.wav, "speech.wav", cache_dir=str(folder))
        return FileData(path=path, orig_name="speech.wav", mime_type="audio/wav", size=len(spoken.wav))

    async def stream(text: str, voice: str = "", model: str = "", language: str = "auto", speed: float = 1.0,
                     seed: int | None = None, options: dict = {}, request: gr.Request = None) -> dict:
        """Speak a text in pieces: base64 of 16-bit mono PCM, each with sample_rate, index and offset; metrics at the end."""
        caller = request.request
        try:
            async for piece in calls.stream(caller, text=text, voice=voice, model=model, language=language,
                                            speed=float(speed), seed=seed, options=options):
                yield piece
        except SpeechError as error:
            raise _told(error, calls, caller) from None

    def models() -> dict:
        """Models with their languages, voices and controls."""
        return calls.models()

    for endpoint in (speak, stream, models):
        gr.api(endpoint, api_name=endpoint.__name__, concurrency_limit=None)


def _told(error: SpeechError, calls: Calls, caller: Any) -> gr.Error:
    return gr.Error(calls.sentence(error, caller), print_exception=False)


def _sweep(folder: Path, coming: int) -> None:
    """Make room for so many bytes more: what is old goes, and of the rest the oldest while it is too much."""
    found = sorted((file.stat().st_mtime, file.stat().st_size, file) for file in folder.glob("*/*"))
    total = coming + sum(size for _, size, _ in found)
    for made, size, file in found:
        if total <= MOST and made > time.time() - KEPT:
            return
        shutil.rmtree(file.parent, ignore_errors=True)
        total -= size
