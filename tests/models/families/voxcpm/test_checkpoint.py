"""Loading: exactly the checkpoint asked for, or a sentence that says what is wrong with it."""
from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from models.errors import SpeechError
from models.families import family
from models.families.voxcpm import checkpoint as checkpoints
from models.families.voxcpm.checkpoint import LIBRARIES, estimate, fetch, open_checkpoint
from models.families.voxcpm.loading import load
from models.families.voxcpm.names import CHECKPOINTS
from tests.checkpoints.make_voxcpm import VERSIONS
from tests.models.families.voxcpm.conftest import spec_of


@pytest.fixture
def copy(checkpoint, tmp_path):
    """A checkpoint to break."""
    return shutil.copytree(checkpoint("1.5"), tmp_path / "copy")


def loaded(folder, precision="float32"):
    return load(open_checkpoint(folder, "vox"), "vox", "cpu", precision)


def fault(folder) -> str:
    with pytest.raises(SpeechError) as refused:
        loaded(folder)
    assert refused.value.code == "weights_broken" and refused.value.sentence("zh")
    return refused.value.sentence()


def change_weights(folder, change) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")


def test_missing_weights_are_named(copy):
    change_weights(copy, lambda weights: weights.pop("lm_to_dit_proj.weight"))
    assert "missing: lm_to_dit_proj.weight" in fault(copy)


def test_many_missing_weights_are_counted(copy):
    change_weights(copy, lambda weights: [weights.pop(name) for name in list(weights) if name.startswith("base_lm.layers")])
    assert "base_lm.layers.0" in fault(copy) and "more" in fault(copy)


def test_weights_of_something_else_are_named(copy):
    change_weights(copy, lambda weights: weights.update({"vocoder.weight": torch.zeros(2)}))
    assert "not of this model: vocoder.weight" in fault(copy)


def test_weights_of_another_shape_are_named(copy):
    change_weights(copy, lambda weights: weights.update({"stop_head.weight": torch.zeros(2, 7)}))
    assert "stop_head.weight [2, 7] for [2, 64]" in fault(copy)


def test_missing_weights_of_the_audio_part_are_named(copy):
    audio = torch.load(copy / "audiovae.pth", weights_only=True)["state_dict"]
    save_file({name: weight for name, weight in audio.items() if name != "encoder.fc_mu.bias"}, copy / "audiovae.safetensors")
    assert "missing: audio_vae.encoder.fc_mu.bias" in fault(copy)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", "audiovae.pth"])
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    assert name in fault(copy) and "missing" in fault(copy)


def test_folders_that_are_no_checkpoint(copy, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors", "audiovae.safetensors"):
        assert name in fault(tmp_path / "empty")
    assert "no such folder" in fault(tmp_path / "nowhere")
    (copy / "config.json").write_text("{")
    assert "not valid JSON" in fault(copy)
    (copy / "config.json").write_text(json.dumps({"architecture": "qwen3_tts", "lm_config": {}}))
    assert "not of a VoxCPM model" in fault(copy)


def test_a_config_that_does_not_fit(copy):
    config = json.loads((copy / "config.json").read_text())
    del config["lm_config"]["hidden_size"]
    (copy / "config.json").write_text(json.dumps(config))
    assert "config.json does not fit" in fault(copy)


@pytest.mark.parametrize("name", ["model.safetensors", "audiovae.pth"])
def test_a_file_cut_off_by_a_broken_download(copy, name):
    whole = (copy / name).read_bytes()
    (copy / name).write_bytes(whole[:len(whole) // 2])
    assert "damaged" in fault(copy)


def test_a_damaged_tokenizer(copy):
    (copy / "tokenizer.json").write_text("{}")
    assert "tokenizer.json" in fault(copy)


def test_a_pickle_that_would_run_code_is_refused(copy):
    class Trap:
        def __reduce__(self):
            return (exec, ("raise SystemExit",))

    torch.save({"state_dict": Trap()}, copy / "audiovae.pth")
    assert "more than weights" in fault(copy)


def test_pickled_files_hold_the_same_model(copy):
    before = loaded(copy).fingerprint
    weights = load_file(copy / "model.safetensors")
    torch.save(weights, copy / "pytorch_model.bin")
    (copy / "model.safetensors").unlink()
    assert loaded(copy).fingerprint == before


@pytest.mark.parametrize("version", VERSIONS)
def test_every_weight_is_the_files(checkpoint, version):
    network = loaded(checkpoint(version)).network
    weights = load_file(checkpoint(version) / "model.safetensors")
    state = network.state_dict()
    assert all(torch.equal(state[name], weight.float()) for name, weight in weights.items())
    assert not network.training and not any(weight.requires_grad for weight in network.parameters())


def test_loading_leaves_no_trace(checkpoint, capfd):
    state, numbers = torch.get_rng_state(), np.random.get_state()[1].copy()
    threads, default = torch.get_num_threads(), torch.get_default_dtype()
    loaded(checkpoint("2"))
    assert torch.equal(torch.get_rng_state(), state) and np.array_equal(np.random.get_state()[1], numbers)
    assert torch.get_num_threads() == threads and torch.get_default_dtype() == default
    assert capfd.readouterr() == ("", "")


def test_the_number_format_is_the_one_asked_for(checkpoint):
    network = loaded(checkpoint("1.5"), "bfloat16").network
    assert network.base_lm.norm.weight.dtype == torch.bfloat16
    assert all(weight.dtype == torch.float32 for weight in network.audio_vae.parameters())


def test_fingerprints_tell_checkpoints_and_formats_apart(checkpoint):
    seen = {loaded(checkpoint("1.5")).fingerprint, loaded(checkpoint("1.5"), "bfloat16").fingerprint,
            loaded(checkpoint("1.5", seed=1)).fingerprint}
    assert len(seen) == 3


def test_a_hub_that_does_not_answer_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("READYVOICE_HOME", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SpeechError) as refused:
        fetch(spec_of(None), lambda line: None)
    assert refused.value.code == "weights_missing" and "`path`" in refused.value.sentence()


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_published_names_lead_to_their_repositories(monkeypatch, name):
    asked = []
    monkeypatch.setattr(checkpoints, "hub_folder", lambda repo, *rest: asked.append(repo))
    fetch(spec_of(None, options={"checkpoint": name}), lambda line: None)
    assert asked == [CHECKPOINTS[name].repo]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_estimates_come_true(checkpoint, version, precision):
    network = loaded(checkpoint(version), precision).network
    tensors = [*network.parameters(), network.base_lm.kv_cache.kv_cache, network.residual_lm.kv_cache.kv_cache]
    held = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    told = estimate(spec_of(checkpoint(version), precision=precision)) - LIBRARIES
    assert told == pytest.approx(held, rel=0.1)  # in a file this small names and padding count


def test_estimates_before_the_download():
    told = [family("voxcpm").estimate(spec_of(None, precision="float16", options={"checkpoint": name})) for name in CHECKPOINTS]
    assert 1.5e9 < told[0] < told[1] < told[2] < 7e9


def test_a_device_that_is_not_there(checkpoint):
    from models.families.voxcpm.model import VoxCPM

    with pytest.raises(SpeechError) as refused:
        VoxCPM(spec_of(checkpoint("1.5"), device="cuda:63")).load(lambda line: None)
    assert refused.value.code == "device_missing" and "cuda:63" in refused.value.sentence()
