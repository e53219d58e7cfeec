"""The official kokoro package as a peer: settings {"weights", "config", "voices", "voice", "threads", "device",
"tagger"}; then {"phonemes"} or {"text"} a line.

{"phonemes": [...]} go through KModel, one after another: {"total", "audio"} in seconds. {"text"} goes through the
English KPipeline: {"first", "total", "audio"}, `first` ending with the first result it yields.
"""
import importlib
import json
import sys
import tempfile
import time
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
settings = json.loads(sys.stdin.readline())
torch.set_num_threads(settings["threads"])

import spacy  # noqa: E402
from kokoro import KModel, KPipeline  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

with tempfile.NamedTemporaryFile(suffix=".pth") as empty:
    torch.save({}, empty.name)
    model = KModel(repo_id="local", config=settings["config"], model=empty.name).eval()
state = load_file(settings["weights"])
for name in list(model.state_dict()):  # its convolutions keep magnitude and direction apart
    if name.endswith("weight_v"):
        weight = state[name.removesuffix("_v")]
        norm = weight.norm(dim=tuple(range(1, weight.ndim)), keepdim=True)
        state[name], state[name.removesuffix("_v") + "_g"] = torch.where(norm > 0, weight, 1.0), norm
missing = model.load_state_dict(state, strict=False).missing_keys
assert all(".norm." in name or "pooler" in name or "stft" in name for name in missing), missing
model.to(settings["device"])
voice = torch.from_numpy(np.load(settings["voices"])[settings["voice"]]).to(settings["device"])

# its pipeline would fetch spaCy's small English model from the network: hand it over
package, load = settings["tagger"], spacy.load
spacy.util.is_package = lambda name: True
spacy.load = lambda name, **options: (
    importlib.import_module(package).load(**options) if name == "en_core_web_sm" else load(name, **options)
)
pipeline = KPipeline(lang_code="a", repo_id="local", model=model, device=settings["device"])
for _ in pipeline("One, two, three.", voice=voice):
    pass
print(json.dumps({"ready": True}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    began, first, samples = time.perf_counter(), None, 0
    if "text" in message:
        for result in pipeline(message["text"], voice=voice):
            samples += result.audio.numel()
            first = first or time.perf_counter() - began
    else:
        for phonemes in message["phonemes"]:
            samples += model(phonemes, voice[len(phonemes) - 1]).numel()
    answer = {"first": first, "total": time.perf_counter() - began, "audio": samples / 24000}
    print(json.dumps(answer), flush=True)
