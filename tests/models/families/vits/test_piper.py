from __future__ import annotations

import json
import shutil

import pytest

from models.errors import SpeechError
from models.families import family
from models.families.protocol import ModelSpec
from models.families.vits.piper import find_voices, read_voice
from models.families.vits.prepare import prepare


def refused(folder) -> SpeechError:
    with pytest.raises(SpeechError) as caught:
        find_voices(folder, "vits")
    assert caught.value.code == "weights_broken"
    return caught.value


@pytest.fixture
def folder(tiny_folder, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(tiny_folder, tmp_path / "voice")


def spoil(folder, change) -> None:
    file = next(folder.glob("*.json"))
    config = json.loads(file.read_text("utf-8"))
    change(config)
    file.write_text(json.dumps(config), "utf-8")


def test_folder_and_file_both_work(folder):
    file = next(folder.glob("*.onnx"))
    assert find_voices(folder, "vits") == find_voices(file, "vits")
    voice = find_voices(folder, "vits")[0]
    assert (voice.language, voice.tag, voice.title, voice.sample_rate) == ("en-us", "en", "tiny", 16_000)
    assert voice.speakers == {"anna": 0, "ben": 1, "cleo": 2}


def test_what_is_missing_is_said(folder, tmp_path):
    assert "no such file" in str(refused(tmp_path / "nowhere"))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no .onnx file" in str(refused(empty))
    config = next(folder.glob("*.json"))
    assert "not an .onnx" in str(refused(config))
    config.unlink()
    assert f"{config.name} is missing" in str(refused(folder))
    config.write_text("{", "utf-8")
    assert "not valid JSON" in str(refused(folder))
    config.write_text("[]", "utf-8")
    assert "JSON object" in str(refused(folder))


@pytest.mark.parametrize(("change", "reason"), [
    (lambda config: config.pop("audio"), "key audio is missing"),
    (lambda config: config.pop("phoneme_id_map"), "key phoneme_id_map is missing"),
    (lambda config: config["phoneme_id_map"].pop("^"), "phoneme_id_map has no ^"),
    (lambda config: config.update(phoneme_type="pinyin"), "phoneme type pinyin is not supported"),
    (lambda config: config.update(audio={"sample_rate": "fast"}), "wrong type"),
    (lambda config: [config.pop("language"), config.pop("espeak")], "neither language.code nor espeak.voice"),
])
def test_a_config_that_lacks_something(folder, change, reason):
    spoil(folder, change)
    assert reason in str(refused(folder))


def test_voices_of_different_rates_are_sent_to_folders_of_their_own(folder):
    file = next(folder.glob("*.onnx"))
    shutil.copyfile(file, folder / "other.onnx")
    config = json.loads(file.with_name(file.name + ".json").read_text("utf-8"))
    config["audio"]["sample_rate"] = 22_050
    (folder / "other.onnx.json").write_text(json.dumps(config), "utf-8")
    assert "16000, 22050" in str(refused(folder))


def test_a_file_that_is_no_network_is_refused(folder):
    file = next(folder.glob("*.onnx"))
    file.write_bytes(b"not a network at all" * 100)
    with pytest.raises(SpeechError) as caught:
        prepare(read_voice(file, "vits"), "vits", lambda line: None)
    assert caught.value.code == "weights_broken"


def test_a_network_that_is_no_vits_is_refused(folder):
    import onnx
    from onnx import TensorProto, helper

    names = ("input", "input_lengths", "scales")
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in names]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, ["n"])
    graph = helper.make_graph([helper.make_node("Neg", ["input"], ["output"])], "g", inputs, [output])
    file = next(folder.glob("*.onnx"))
    onnx.save(helper.make_model(graph), str(file))
    with pytest.raises(SpeechError, match="HiFi-GAN"):
        prepare(read_voice(file, "vits"), "vits", lambda line: None)


def test_fetch_checks_the_folder(tmp_path):
    with pytest.raises(SpeechError) as caught:
        family("vits").fetch(ModelSpec("mine", "vits", path=tmp_path), print)
    assert caught.value.code == "weights_broken" and "mine" in str(caught.value)
