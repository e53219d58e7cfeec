"""Gradio's own way to stream sound, `gr.Audio(streaming=True, autoplay=True)`, fed by a running ReadyVoice.

usage: gradio_audio.py URL PORT. Answers with one line when it listens, then with one line a request: the time (seconds
since the epoch) its first chunk was there.
"""
from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import gradio as gr
import imageio_ffmpeg
import numpy as np


def main(url: str, port: int) -> None:
    tools = Path(tempfile.mkdtemp(prefix="readyvoice-ffmpeg-"))
    (tools / "ffmpeg").symlink_to(imageio_ffmpeg.get_ffmpeg_exe())  # gr.Audio looks for it by this name
    os.environ["PATH"] = f"{tools}{os.pathsep}{os.environ['PATH']}"

    def speak(text: str, model: str):
        body = json.dumps({"text": text, "model": model}).encode()
        request = urllib.request.Request(url + "api/stream", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            rate, left, first = int(answer.headers["X-Sample-Rate"]), b"", True
            while piece := answer.read1(65536):
                if first:
                    print(json.dumps({"first": time.time()}), flush=True)
                    first = False
                whole = left + piece
                left = whole[len(whole) & ~1:]
                if len(whole) > 1:
                    yield rate, np.frombuffer(whole[:len(whole) & ~1], np.int16)

    with gr.Blocks(analytics_enabled=False) as page:
        text, model = gr.Textbox(elem_id="text"), gr.Textbox(elem_id="model")
        button, sound = gr.Button("Speak", elem_id="speak"), gr.Audio(streaming=True, autoplay=True)
        button.click(speak, [text, model], sound)
    page.launch(server_name="127.0.0.1", server_port=port, prevent_thread_lock=True, quiet=True, share=False)
    print(json.dumps({"ready": True}), flush=True)
    sys.stdin.read()


main(sys.argv[1], int(sys.argv[2]))
