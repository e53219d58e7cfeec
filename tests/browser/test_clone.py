"""A voice is recorded, cloned, saved and spoken in, as a visitor does it."""
from __future__ import annotations

import base64
import io
import re
from urllib.parse import urlsplit

import av
import numpy as np
import pytest
import soundfile

from models.audio.decode import decode
from models.audio.resample import resample
from models.voices.speaker import likeness, speaker_encoder
from tests.browser.conftest import ARGUMENTS, EAR, Visit, installed
from tests.listening import plain, transcribe, word_error_rate
from tests.server.cloning import SPEECH, joes_voice

LINE = "Seven heavy boxes stood in the hall beside an old piano, and nobody knew whose they were."
MAKING = 600  # seconds: the first voice made on a machine listens to all stock voices
BYTES = """fetch(document.querySelector('.rv-clip audio').src).then((clip) => clip.arrayBuffer())
    .then((bytes) => { let text = ''; for (const byte of new Uint8Array(bytes)) text += String.fromCharCode(byte); return btoa(text); })"""


@pytest.fixture(scope="module")
def joe(served) -> bytes:
    return joes_voice(served)


@pytest.fixture(scope="module")
def studio(served, playwright, joe, tmp_path_factory):
    """studio(host) opens the page in a Chromium of its own whose microphone hears joe; every host name is this machine."""
    recording = tmp_path_factory.mktemp("microphone") / "joe.wav"
    sound = decode(joe)
    soundfile.write(recording, resample(sound.samples, sound.sample_rate, 48_000), 48_000, subtype="PCM_16")
    contexts = []
    chromium = playwright.chromium.launch(executable_path=installed(), args=[
        *ARGUMENTS, "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={recording}", "--host-resolver-rules=MAP studio.test 127.0.0.1"])

    def open_page(host: str = "127.0.0.1", ear: bool = True, **options) -> Visit:
        context = chromium.new_context(**{"locale": "en-GB", "viewport": {"width": 1280, "height": 1000}, **options})
        contexts.append(context)
        if ear:
            context.add_init_script(path=EAR)
        tab = Visit(context.new_page(), f"http://{host}:{urlsplit(served.url).port}/").open()
        tab.page.click("#rv-tab-clone")
        return tab

    yield open_page
    for context in contexts:
        context.close()
    chromium.close()


def upload(tab: Visit, data: bytes, name: str = "joe.flac") -> Visit:
    tab.page.set_input_files(".rv-take .rv-choose input", {"name": name, "mimeType": "audio/flac", "buffer": data})
    return tab


def agree(tab: Visit) -> Visit:
    """Tick the consent, and wait for the first try."""
    tab.page.wait_for_selector(".rv-clone[data-step='report']", timeout=60_000)
    tab.page.check("#rv-consent")
    tab.page.fill("#rv-who", "Joe himself")
    tab.page.wait_for_selector(".rv-hear:enabled", timeout=MAKING * 1000)
    return tab


def keep(tab: Visit, name: str) -> str:
    """Save; the voice as it stands in requests."""
    tab.page.fill("#rv-voice-name", name)
    with tab.page.expect_response(lambda answer: answer.url.endswith("api/voices") and answer.request.method == "POST") as asked:
        tab.page.click(".rv-save button")
    tab.page.wait_for_selector(".rv-clone[data-step='saved']")
    return asked.value.json()["voice"]


def nearness(sound, clip: bytes) -> float:
    known = decode(clip)
    encoder = speaker_encoder()
    return likeness(encoder.embed(sound.samples, sound.rate), encoder.embed(known.samples, known.sample_rate))


def test_record_clone_save_reload_and_speak(studio, joe):
    tab = studio()
    tab.page.click(".rv-record")
    tab.page.wait_for_selector(".rv-record-stop:visible")
    tab.page.wait_for_timeout(9500)
    assert int(re.fullmatch(r"(\d+) of 60 s", tab.page.inner_text(".rv-time"))[1]) >= 9
    tab.page.click(".rv-record-stop")
    tab.page.wait_for_selector(".rv-findings li", timeout=60_000)
    assert "of speech" in tab.page.inner_text(".rv-findings") and tab.page.get_attribute(".rv-kept", "d").count("M") > 200
    tab.page.wait_for_function("document.querySelector('#rv-transcript').value", timeout=MAKING * 1000)
    written, spoken = (plain(text).replace("harbour", "harbor").split()
                       for text in (tab.page.input_value("#rv-transcript"), SPEECH))
    assert len(written) >= 12 and sum(word in spoken for word in written) > 0.7 * len(written)  # it may begin anywhere

    agree(tab).page.evaluate("ear.forget()")
    tab.page.click(".rv-hear")
    tab.page.wait_for_selector(".rv-hear:has-text('Stop')")
    tab.page.wait_for_selector(".rv-hear:has-text('first try')", timeout=60_000)
    first = tab.sound()
    assert word_error_rate("Hello, this is how I sound.", transcribe(first.samples, first.rate, "en")) <= 0.2
    voice = keep(tab, "Joe Ünal 乔")

    tab.page.reload()
    tab.page.click("#rv-tab-speak")
    chosen = f"input[name='rv-voice'][value='{voice}']"
    tab.page.wait_for_selector(f"{chosen}:checked", state="attached")
    assert "Joe Ünal 乔" in tab.page.inner_text(f".rv-voice:has({chosen})")
    sound = tab.speak(LINE).wait("finished").sound()
    assert word_error_rate(LINE, transcribe(sound.samples, sound.rate, "en")) <= 0.1
    clip = base64.b64decode(tab.page.evaluate(BYTES))
    cloned = nearness(sound, joe)
    for other in ("bm_george", "af_heart"):  # neither is in the blend that a first try is
        tab.page.check(f"input[name='rv-voice'][value='{other}']", force=True)
        assert nearness(tab.speak(LINE).wait("finished").sound(), joe) < cloned, other

    with av.open(io.BytesIO(clip)) as file:  # the clip that can be downloaded says what it is
        assert 'in the cloned voice "Joe Ünal 乔"' in file.metadata["comment"]
    assert np.array_equal(soundfile.read(io.BytesIO(clip), dtype="int16")[0].shape, decode(clip).samples.shape)
    tab.page.check("input[name='rv-voice'][value='am_michael']", force=True)
    tab.speak(LINE).wait("finished")
    with av.open(io.BytesIO(base64.b64decode(tab.page.evaluate(BYTES)))) as file:
        assert file.metadata["comment"] == "Synthetic speech by ReadyVoice: no person said this."
    assert tab.console == [] and tab.foreign() == []


def test_better_and_better_until_it_is_enough(studio, joe):
    tab = agree(upload(studio(), joe))
    tab.page.click(".rv-better")
    tab.page.wait_for_selector(".rv-try-status:has-text('Step 2 of')", timeout=MAKING * 1000)
    assert tab.page.is_disabled(".rv-save button") and not tab.page.is_enabled(".rv-hear")
    tab.page.click(".rv-enough")
    tab.page.wait_for_selector(".rv-try-status:has-text('Done:')", timeout=60_000)
    before, after = re.search(r"(\d+) % alike, from (\d+) %", tab.page.inner_text(".rv-try-status")).group(2, 1)
    assert int(after) >= int(before) > 40
    with tab.page.expect_response("**/sample") as asked:
        tab.page.click(".rv-hear")
    sample = decode(tab.page.context.request.get(asked.value.url).body())  # the same browser: it has the cookie
    heard = transcribe(sample.samples, sample.sample_rate, "en")
    assert word_error_rate("We waited there until the morning came.", heard) <= 0.3
    keep(tab, "Better Joe")
    about = tab.page.inner_text(".rv-mine-row:has-text('Better Joe')")
    assert f"{after} % alike" in about.replace("\u00a0", " ")


def test_opening_the_tab_gets_the_tools_ready(visit):
    """So that the first clip isn't the one that waits for them."""
    tab = visit()
    with tab.page.expect_response(lambda answer: answer.url.endswith("api/voices/tools"), timeout=60_000) as asked:
        tab.page.click("#rv-tab-clone")
    assert asked.value.status == 204
    with tab.page.expect_response(lambda answer: answer.url.endswith("api/voices/tools"), timeout=60_000):
        tab.page.reload()  # it comes back to the tab


def test_without_https_there_is_no_microphone_but_a_file_will_do(studio, joe, served):
    tab = studio("studio.test", ear=False)  # that needs https too
    tab.page.click(".rv-record")
    tab.page.wait_for_selector(".rv-clone-status:has-text('https')")
    keep(agree(upload(tab, joe)), "Plain Joe")  # only Origin says whose page asks there
    tab.page.click(".rv-speak-in")
    tab.type("A short line.").page.click("#rv-speak")
    tab.wait("finished")
    assert tab.page.is_visible(".rv-clip")


@pytest.mark.parametrize(("name", "says"), [("NotAllowedError", "address bar"), ("NotFoundError", "plug one in"),
                                            ("NotReadableError", "another program")])
def test_why_there_is_no_microphone(visit, name, says):
    tab = visit(before=f"navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '{name}'))")
    tab.page.click("#rv-tab-clone")
    tab.page.click(".rv-record")
    tab.page.wait_for_selector(f".rv-clone-status:has-text('{says}')")
    assert tab.page.is_visible(".rv-record") and tab.page.is_enabled(".rv-choose input")


def test_a_file_that_is_none_is_refused_in_the_readers_language(studio):
    tab = upload(studio(locale="zh-CN"), b"no sound at all" * 50, "notes.flac")
    tab.page.wait_for_selector(".rv-clone-status:has-text('无法识别这个音频文件')")
    assert tab.page.is_hidden(".rv-report") and tab.page.is_enabled(".rv-choose input")
    upload(tab, bytes(20_000_001))
    tab.page.wait_for_selector(".rv-clone-status:has-text('20 MB')")
    assert not [url for url in tab.asked if url.endswith("api/voices/clips")][1:]  # that one never left


def test_my_voices(studio, joe):
    """Renamed, shared, seen by another browser, deleted, brought back, exported and imported there."""
    tab, other = upload(studio(), joe), studio()
    keep(agree(tab), "Harbour")
    row = ".rv-mine-row:has-text('Harbour')"
    tab.page.wait_for_selector(row)
    tab.page.click(f"{row} [data-act=rename]")
    tab.page.fill(".rv-rename", "Harbour master")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector(".rv-mine-row h3:has-text('Harbour master')")
    other.page.reload()
    other.page.wait_for_selector(".rv-mine > *")
    assert "Harbour" not in other.page.inner_text(".rv-mine")
    with tab.page.expect_response(lambda answer: answer.request.method == "PATCH"):
        tab.page.click(f"{row} [data-act=share]")
    tab.page.wait_for_selector(f"{row} [data-act=share][aria-pressed=true]")
    other.page.reload()
    other.page.wait_for_selector(row)
    assert "shared by somebody" in other.page.inner_text(row) and other.page.locator(f"{row} [data-act=remove]").count() == 0
    other.page.click(f"{row} [data-act=use]")
    other.speak("A short line.").wait("finished")
    other.page.click("#rv-tab-clone")

    with tab.page.expect_download() as saved:
        tab.page.click(f"{row} a")
    assert saved.value.suggested_filename == "Harbour master.voice.zip"
    tab.page.click(f"{row} [data-act=remove]")
    tab.page.wait_for_selector(row, state="detached")
    tab.page.click(".rv-undo")
    tab.page.wait_for_selector(row)
    tab.page.click(f"{row} [data-act=remove]")
    tab.page.wait_for_selector(row, state="detached")
    other.page.reload()
    other.page.wait_for_selector(".rv-mine > *")
    assert "Harbour" not in other.page.inner_text(".rv-mine")
    other.page.set_input_files(".rv-library .rv-choose input", saved.value.path())
    other.page.wait_for_selector(f"{row} [data-act=remove]")


def test_every_word_of_the_page_is_there_in_chinese(studio, joe):
    tab = upload(studio(locale="zh-CN"), joe)
    tab.page.wait_for_selector(".rv-findings li", timeout=60_000)
    tab.page.check("#rv-consent")
    text = tab.page.inner_text("body")
    assert "可以克隆吗" in text
    assert not re.findall(r"\b(?:clone|mine|mic|fit|finding|preview|tab)\.[a-z.]+", text)


def test_a_phone_shows_it_without_sideways_scrolling(studio, joe):
    tab = upload(studio(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True), joe)
    tab.page.wait_for_selector(".rv-findings li", timeout=60_000)
    tab.page.check("#rv-consent")
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
