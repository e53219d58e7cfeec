"""piper-tts as a peer: settings {"model", "threads"}; then {"text"} or {"ids"} a line.

{"text"} is spoken as its own streaming does, a chunk a sentence: {"first", "total", "audio"} in seconds, `first` ending
when the first chunk's 16-bit samples are at hand. {"ids"} runs the network alone on given phoneme ids.
"""
import json
import sys
import time

import onnxruntime
import piper

settings = json.loads(sys.stdin.readline())
voice = piper.PiperVoice.load(settings["model"])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = settings["threads"]
voice.session = onnxruntime.InferenceSession(settings["model"], options, providers=["CPUExecutionProvider"])
list(voice.synthesize("One, two, three."))
print(json.dumps({"ready": True}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    began, first, samples = time.perf_counter(), None, 0
    if "text" in message:
        for chunk in voice.synthesize(message["text"]):
            samples += len(chunk.audio_int16_bytes) // 2
            first = first or time.perf_counter() - began
    else:
        for ids in message["ids"]:
            samples += voice.phoneme_ids_to_audio(ids).size
    answer = {"first": first, "total": time.perf_counter() - began, "audio": samples / voice.config.sample_rate}
    print(json.dumps(answer), flush=True)
