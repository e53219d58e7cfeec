"""kokoro-onnx as a peer: settings {"model", "voices", "voice", "threads"}; then {"phonemes"} or {"text"} a line.

{"phonemes": [...]} are spoken whole, one after another: {"total", "audio"} in seconds. {"text"} goes through its own
`create_stream`: {"first", "total", "audio"}.
"""
import asyncio
import json
import sys
import time

import onnxruntime
from kokoro_onnx import Kokoro

settings = json.loads(sys.stdin.readline())
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = settings["threads"]
session = onnxruntime.InferenceSession(settings["model"], options, providers=["CPUExecutionProvider"])
kokoro = Kokoro.from_session(session, settings["voices"])
voice = kokoro.get_voice_style(settings["voice"])
kokoro.create("One, two, three.", voice)
print(json.dumps({"ready": True}), flush=True)


async def stream(text):
    first, samples = None, 0
    async for chunk, _ in kokoro.create_stream(text, voice):
        first = first or time.perf_counter() - began
        samples += chunk.size
    return first, samples


for line in sys.stdin:
    message = json.loads(line)
    began, first, samples = time.perf_counter(), None, 0
    if "text" in message:
        first, samples = asyncio.run(stream(message["text"]))
    else:
        for phonemes in message["phonemes"]:
            samples += kokoro.create(phonemes, voice, is_phonemes=True, trim=False)[0].size
    answer = {"first": first, "total": time.perf_counter() - began, "audio": samples / 24000}
    print(json.dumps(answer), flush=True)
