"""Clips and saved voices over HTTP: what is told of them, whose they are, and what is refused."""
from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

from models.audio.decode import decode
from models.voices.archive import MOST_BYTES
from server import drafts as at_hand
from tests.models.voices.test_archive import HOSTILE, edited
from tests.recordings import pcm_file, tone
from tests.server.cloning import SPEECH, app_of, browser, joes_voice, refusal, saved, sent

CLIP_ROUTES = [("GET", ""), ("POST", "/transcript"), ("POST", "/preview"), ("POST", "/fit"), ("POST", "/fit/stop"),
               ("GET", "/sample"), ("DELETE", "")]


@pytest.fixture(scope="module")
def joe(served) -> bytes:
    return joes_voice(served)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("READYVOICE_VOICES", str(tmp_path / "voices"))
    return tmp_path / "voices"


@pytest.fixture
def app(folder):
    app, pool = app_of()
    yield app
    pool.close()


@pytest.fixture
def anna(app):
    return browser(app)


@pytest.fixture
def ben(app):
    return browser(app)


# -- clips


def test_a_clip_is_reported_on_in_both_languages(anna, joe):
    answer = sent(anna, joe)
    report = answer.json()
    assert answer.status_code == 201 and answer.headers["cache-control"] == "no-store"
    assert report["level"] in ("good", "fair") and 5 < report["speech_seconds"] <= report["seconds"] < 15
    assert len(report["outline"]) == 600 and max(report["outline"]) > 0.1
    assert all(0 <= start < end <= report["seconds"] + 0.01 for start, end in report["kept"])
    about = {finding["about"]: finding for finding in report["findings"]}
    assert {"duration", "noise", "speakers"} <= about.keys()
    assert "s of speech" in about["duration"]["sentences"]["en"] and "秒人声" in about["duration"]["sentences"]["zh"]
    assert report["transcript"] is None and report["preview"] is None and report["fit"] is None


def test_its_words_are_found_or_compared(anna, joe):
    clip = sent(anna, joe).json()["clip"]
    found = anna.post(f"api/voices/clips/{clip}/transcript", json={}).json()
    assert "harbour was quiet" in found["transcript"].replace("harbor", "harbour") and found["language"] == "en"
    assert found["matches"] is True
    wrong = anna.post(f"api/voices/clips/{clip}/transcript", json={
        "transcript": "Seven bakers sold warm bread from a cart all winter.", "language": "en"}).json()
    assert wrong["matches"] is False and wrong["transcript"].startswith("Seven bakers")
    assert [finding["level"] for finding in wrong["findings"] if finding["about"] == "transcript"] == ["poor"]
    assert refusal(anna.post(f"api/voices/clips/{clip}/transcript", json={"language": "tlh"})) == (422, "field_invalid")


@pytest.mark.parametrize(("data", "status", "code"), [
    (b"", 422, "clip_empty"),
    (b"hello, I am no recording" * 100, 422, "clip_not_audio"),
    (pcm_file(np.zeros(48_000, np.float32), 16_000), 422, "clip_silent"),
    (pcm_file(tone(5, 16_000), 16_000), 422, "clip_no_speech"),
    (bytes(20_200_000), 413, "clip_too_large"),
], ids=["empty", "text", "silent", "tone", "large"])
def test_what_is_no_speech_is_refused_in_one_sentence(anna, data, status, code):
    answer = sent(anna, data)
    assert refusal(answer) == (status, code) and answer.json()["error"]["message"]


def test_a_large_body_is_refused_before_it_is_held(anna):
    """Also where nothing says its length."""
    answer = anna.post("api/voices/clips", headers={"content-type": "multipart/form-data; boundary=x"}, content=(
        piece for piece in [b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n', *[bytes(1 << 20)] * 21]))
    assert refusal(answer) == (413, "clip_too_large")


@pytest.mark.parametrize("body", [
    {"content": b"x", "headers": {"content-type": "audio/wav"}}, {"data": {"file": "text"}, "files": {}},
    {"files": {"other": ("a.wav", b"x")}}, {"content": b"nonsense", "headers": {"content-type": "multipart/form-data"}}])
def test_a_wrong_form_is_the_callers_fault(anna, body):
    assert anna.post("api/voices/clips", **body).status_code in (400, 422)


def test_a_clip_is_its_senders_alone(anna, ben, joe):
    clip = sent(anna, joe).json()["clip"]
    for method, path in CLIP_ROUTES:
        answer = ben.request(method, f"api/voices/clips/{clip}{path}", json={} if method == "POST" else None)
        assert refusal(answer) == (404, "clip_unknown"), path
    stolen = {"clip": clip, "name": "Stolen", "who": "Ben", "consent": True}
    assert refusal(ben.post("api/voices", json=stolen)) == (404, "clip_unknown")
    assert anna.get(f"api/voices/clips/{clip}").status_code == 200


def test_clips_at_hand_are_few_and_do_not_stay(app, anna, ben, joe, monkeypatch):
    clips = [sent(anna, joe).json()["clip"] for _ in range(at_hand.EACH + 1)]
    other = sent(ben, joe).json()["clip"]
    gone = [refusal(answer) if (answer := anna.get(f"api/voices/clips/{clip}")).status_code != 200 else 200 for clip in clips]
    assert gone == [(404, "clip_unknown"), 200, 200, 200] and ben.get(f"api/voices/clips/{other}").status_code == 200
    assert anna.delete(f"api/voices/clips/{clips[-1]}").status_code == 204
    assert refusal(anna.get(f"api/voices/clips/{clips[-1]}")) == (404, "clip_unknown")
    monkeypatch.setattr(at_hand, "AGE", 0.0)
    assert refusal(anna.get(f"api/voices/clips/{clips[1]}")) == (404, "clip_unknown")


def test_all_clips_together_have_a_limit(joe, folder, monkeypatch):
    from models.voices.reference import check

    reference = check(joe)
    monkeypatch.setattr(at_hand, "BYTES", 3 * reference.clip.samples.nbytes)
    held = at_hand.Drafts()
    handles = [held.add(f"browser-{number}", reference).handle for number in range(5)]
    there = []
    for number, handle in enumerate(handles):
        try:
            there.append(held.get(handle, f"browser-{number}").handle)
        except Exception as error:
            assert error.code == "clip_unknown"
    assert there == handles[2:]


def test_no_clip_touches_the_disk_before_it_is_saved(app, anna, joe, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))  # where a file would be made it fails
    big = pcm_file(np.tile(decode(joe).samples, 6), 22_050, subtype="PCM_32")
    assert len(big) > 3_000_000 and sent(anna, big).status_code == 201
    assert not (tmp_path / "nowhere").exists() and not list(folder.glob("*/clip.flac"))


# -- voices


def test_saved_listed_searched_changed_deleted_and_brought_back(anna, joe):
    voice = saved(anna, joe, notes="calm", tags=["story"])
    assert voice["name"] == "Joe" and voice["mine"] and not voice["shared"] and not voice["fitted"]
    assert voice["voice"] == f"my:{voice['id']}" and voice["consent"]["who"] == "Joe himself"
    assert anna.get("api/voices").json()["voices"] == [voice]
    found = {search: len(anna.get("api/voices", params={"search": search}).json()["voices"]) for search in ("CALM", "harbour", "x")}
    assert found == {"CALM": 1, "harbour": 1, "x": 0}
    address = f"api/voices/{voice['id']}"
    assert anna.patch(address, json={"name": "José", "tags": []}).json() == {**voice, "name": "José", "tags": []}
    assert refusal(anna.patch(address, json={"owner": "operator"})) == (422, "field_unknown")
    assert refusal(anna.patch(address, json={"consent": {"who": "me"}})) == (422, "field_unknown")
    assert refusal(anna.patch(address, json={"name": ""})) == (422, "field_invalid")
    assert anna.delete(address).json()["name"] == "José" and anna.get("api/voices").json()["voices"] == []
    assert anna.post(f"{address}/undo").json()["name"] == "José"
    assert [each["name"] for each in anna.get("api/voices").json()["voices"]] == ["José"]
    copy = anna.post(f"{address}/copy", json={"name": "Twin"}).json()
    assert copy["id"] != voice["id"] and copy["consent"] == voice["consent"]


def test_one_owner_has_so_many_voices(anna, ben, joe, monkeypatch):
    monkeypatch.setattr("server.voices.MOST", 1)
    voice = saved(anna, joe)
    exported = anna.get(f"api/voices/{voice['id']}/export").content
    clip = sent(anna, joe).json()["clip"]
    for answer in (anna.post("api/voices", json={"clip": clip, "name": "Two", "who": "x", "consent": True}),
                   anna.post(f"api/voices/{voice['id']}/copy", json={"name": "Two"}),
                   anna.post("api/voices/import", files={"file": ("voice.zip", exported)})):
        assert refusal(answer) == (409, "voices_full")
    assert saved(ben, joe)["mine"]


@pytest.mark.parametrize(("change", "status", "code"), [
    ({"consent": False}, 422, "consent_missing"), ({"who": "  "}, 422, "consent_missing"), ({"name": " "}, 422, "field_invalid"),
    ({"consent": "yes"}, 422, "field_invalid"), ({"clip": "0" * 32}, 404, "clip_unknown"), ({"owner": "x"}, 422, "field_unknown"),
    ({"language": "no tag"}, 422, "field_invalid"),
])
def test_nothing_is_saved_without_consent_or_a_name(anna, joe, folder, change, status, code):
    clip = sent(anna, joe).json()["clip"]
    body = {"clip": clip, "name": "Joe", "who": "Joe", "consent": True}
    assert refusal(anna.post("api/voices", json={**body, **change})) == (status, code)
    assert anna.get("api/voices").json()["voices"] == []
    assert anna.post("api/voices", json=body).status_code == 201  # the clip is still there
    assert refusal(anna.get(f"api/voices/clips/{clip}")) == (404, "clip_unknown")  # and now it isn't


def test_a_voice_is_its_owners_alone(app, anna, ben, joe):
    voice = saved(anna, joe)
    address = f"api/voices/{voice['id']}"
    nobody = browser(app)
    nobody.cookies.clear()
    assert ben.get("api/voices").json()["voices"] == nobody.get("api/voices").json()["voices"] == []
    requests = [("PATCH", "", {"name": "Mine"}), ("DELETE", "", None), ("POST", "/undo", None), ("POST", "/copy", {"name": "My"}),
                ("GET", "/export", None)]
    for method, path, body in requests:
        assert refusal(ben.request(method, address + path, json=body)) == (404, "saved_voice_unknown"), path
        assert refusal(nobody.request(method, address + path, json=body)) == (403, "owner_missing"), path
    anna.delete(address)
    assert refusal(ben.post(f"{address}/undo")) == (404, "saved_voice_unknown")
    anna.post(f"{address}/undo")
    assert anna.get("api/voices").json()["voices"] == [voice]


def test_a_shared_voice_is_seen_by_all_and_changed_by_its_owner(app, anna, ben, joe):
    voice = saved(anna, joe)
    address = f"api/voices/{voice['id']}"
    assert anna.patch(address, json={"shared": True}).json()["shared"]
    (seen,) = ben.get("api/voices").json()["voices"]
    assert seen["id"] == voice["id"] and not seen["mine"]
    assert not {"owner", "consent", "notes", "transcript"} & seen.keys()
    for method, body in (("PATCH", {"name": "Stolen"}), ("DELETE", None)):
        assert refusal(ben.request(method, address, json=body)) == (403, "saved_voice_foreign")
    assert ben.post(f"{address}/copy", json={"name": "Copy"}).json()["mine"]
    anna.patch(address, json={"shared": False})
    assert [each["name"] for each in ben.get("api/voices").json()["voices"]] == ["Copy"]


@pytest.mark.parametrize("origin", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                                    {"Origin": "http://evil.example.org"}, {"Origin": "null"}])
def test_another_page_can_do_nothing_with_the_cookie(app, anna, joe, origin):
    voice = saved(anna, joe)
    clip = sent(anna, joe).json()["clip"]
    address = f"api/voices/{voice['id']}"
    requests = [("POST", "api/voices/clips", {"files": {"file": ("a.flac", joe)}}), ("DELETE", address, {}),
                ("POST", "api/voices", {"json": {"clip": clip, "name": "Two", "who": "x", "consent": True}}),
                ("PATCH", address, {"json": {"shared": True}}), ("POST", f"{address}/copy", {"json": {"name": "x"}}),
                ("POST", "api/voices/import", {"files": {"file": ("a.zip", b"PK")}}), ("GET", f"{address}/export", {}),
                ("DELETE", f"api/voices/clips/{clip}", {})]
    for method, path, body in requests:
        assert refusal(anna.request(method, path, headers=origin, **body)) == (403, "cross_site"), path
    assert anna.get("api/voices", headers=origin).json()["voices"] == []
    assert anna.get("api/voices").json()["voices"] == [voice]


# -- one file


def test_export_and_import(anna, ben, joe):
    voice = saved(anna, joe, name="Anna 安娜/..")
    answer = anna.get(f"api/voices/{voice['id']}/export")
    assert answer.headers["content-type"] == "application/zip" and "attachment" in answer.headers["content-disposition"]
    assert "%2F" in answer.headers["content-disposition"]
    assert set(zipfile.ZipFile(io.BytesIO(answer.content)).namelist()) == {"meta.json", "clip.flac"}
    taken = ben.post("api/voices/import", files={"file": ("voice.zip", answer.content)})
    assert taken.status_code == 201 and taken.json()["mine"] and taken.json()["name"] == voice["name"]
    assert taken.json()["transcript"] == SPEECH and taken.json()["id"] != voice["id"]
    again = ben.post("api/voices/import", files={"file": ("voice.zip", answer.content)})
    assert refusal(again) == (409, "voice_name_taken")


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_are_refused_over_http(anna, ben, joe, folder, kind):
    voice = saved(anna, joe)
    data = edited(anna.get(f"api/voices/{voice['id']}/export").content, HOSTILE[kind])
    before = {path for path in folder.parent.rglob("*") if path.name != ".lock"}
    answer = ben.post("api/voices/import", files={"file": ("voice.zip", data)})
    assert refusal(answer) == (422, "voice_file_invalid")
    assert {path for path in folder.parent.rglob("*") if path.name != ".lock"} == before
    assert ben.get("api/voices").json()["voices"] == []


def test_an_import_takes_nobodys_name_or_place(anna, ben, joe):
    voice = saved(anna, joe)
    data = edited(anna.get(f"api/voices/{voice['id']}/export").content, lambda parts: parts.update({"meta.json": json.dumps(
        json.loads(parts["meta.json"]) | {"owner": "operator", "shared": True, "id": voice["id"]})}))
    taken = ben.post("api/voices/import", files={"file": ("voice.zip", data)}).json()
    assert taken["mine"] and not taken["shared"] and taken["id"] != voice["id"]
    assert anna.get("api/voices").json()["voices"] == [voice]


def test_an_import_is_capped(anna):
    answer = anna.post("api/voices/import", files={"file": ("voice.zip", bytes(MOST_BYTES + 100_000))})
    assert refusal(answer) == (422, "voice_file_invalid") and "64 MB" in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["api/voices/..%2f..%2fetc", "api/voices/%2e%2e", "api/voices/.trash", "api/voices/" + "0" * 16])
def test_no_path_leads_out_of_the_library(anna, path):
    for answer in (anna.patch(path, json={"name": "x"}), anna.delete(path), anna.get(f"{path}/export")):
        assert answer.status_code == 404


def test_every_clip_route_is_tried_above():
    app, pool = app_of()
    pool.close()
    routes = {(method, path.removeprefix("/api/voices/clips/{clip}")) for path, kinds in app.openapi()["paths"].items()
              if path.startswith("/api/voices/clips/{clip}") for method in map(str.upper, kinds)}
    assert routes == set(CLIP_ROUTES)
