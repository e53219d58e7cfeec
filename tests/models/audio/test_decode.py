from __future__ import annotations

import io
import socket
import struct
import threading
import tracemalloc
import wave
import zipfile

import numpy as np
import pytest

from models.audio import decode as bounds
from models.audio.decode import decode
from models.errors import SpeechError
from tests.recordings import coded_file, pcm_file, tone

SECONDS = 2.0


def heard_frequency(samples: np.ndarray, rate: int) -> float:
    middle = samples[len(samples) // 4:-len(samples) // 4]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    return spectrum.argmax() * rate / len(middle)


def check(data: bytes, rate: int, channels: int = 1, level: float = 0.3, tolerance: float = 0.02) -> None:
    decoded = decode(data)
    assert decoded.file_rate == rate and decoded.channels == channels and not decoded.broken
    assert decoded.samples.dtype == np.float32 and 16_000 <= decoded.sample_rate <= 48_000
    assert abs(decoded.seconds - SECONDS) < 0.15  # codecs pad their ends
    assert heard_frequency(decoded.samples, decoded.sample_rate) == pytest.approx(440, abs=2)
    middle = decoded.samples[len(decoded.samples) // 4:-len(decoded.samples) // 4]
    assert np.abs(middle).max() == pytest.approx(level, abs=tolerance)
    assert decoded.clipped == 0


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW", "IMA_ADPCM",
                                     "MS_ADPCM", "GSM610"])
def test_wav_of_every_number_format(subtype):
    rate = 8000 if subtype == "GSM610" else 22_050
    check(pcm_file(tone(SECONDS, rate), rate, "WAV", subtype), rate, tolerance=0.06)


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000])
def test_every_rate(rate):
    check(pcm_file(tone(SECONDS, rate), rate, "WAV", "PCM_24"), rate)


@pytest.mark.parametrize("channels", range(1, 9))
def test_every_number_of_channels(channels):
    check(pcm_file(tone(SECONDS, 48_000), 48_000, "WAV", "PCM_16", channels), 48_000, channels)


@pytest.mark.parametrize(("kind", "subtype"), [
    ("FLAC", "PCM_16"), ("FLAC", "PCM_24"), ("AIFF", "PCM_16"), ("AIFF", "FLOAT"), ("CAF", "PCM_16"), ("CAF", "ALAC_16"),
    ("W64", "PCM_16"), ("RF64", "PCM_16"), ("WAVEX", "PCM_16"), ("AU", "PCM_16"), ("OGG", "VORBIS"), ("OGG", "OPUS"),
    ("MP3", "MPEG_LAYER_III"),
])
def test_other_files_of_libsndfile(kind, subtype):
    rate = 48_000 if subtype == "OPUS" else 44_100
    check(pcm_file(tone(SECONDS, rate), rate, kind, subtype, 2), rate, 2)


@pytest.mark.parametrize(("container", "codec", "channels", "rate"), [
    ("mp3", "libmp3lame", 1, 44_100), ("mp3", "libmp3lame", 2, 48_000), ("mp3", "libmp3lame", 1, 8_000),
    ("ogg", "libopus", 1, 48_000), ("ogg", "libopus", 6, 48_000),
    ("ipod", "aac", 1, 44_100), ("ipod", "aac", 2, 48_000), ("mp4", "aac", 6, 48_000), ("mp4", "alac", 2, 44_100),
    ("adts", "aac", 1, 44_100), ("webm", "libopus", 1, 48_000), ("webm", "libopus", 2, 48_000), ("matroska", "flac", 2, 96_000),
    ("mov", "pcm_s24le", 2, 48_000),
])
def test_files_of_phones_and_browsers(container, codec, channels, rate):
    check(coded_file(tone(SECONDS, rate), rate, container, codec, channels), rate, channels)


def test_a_picture_in_the_file_is_passed_over():
    check(coded_file(tone(SECONDS, 48_000), 48_000, "webm", "libopus", cover=True), 48_000)


def test_tags_before_the_sound_are_passed_over():
    sound = coded_file(tone(SECONDS, 44_100), 44_100, "mp3", "libmp3lame")
    size = 70_000
    coded = bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))
    check(b"ID3\x04\0\0" + coded + bytes(size) + sound, 44_100)


def test_channels_out_of_phase_are_not_lost():
    one = tone(SECONDS, 48_000)
    check(pcm_file(np.stack([one, -one], 1), 48_000), 48_000, 2)


def test_one_of_eight_channels_speaking_is_heard():
    wide = np.zeros((96_000, 8), np.float32)
    wide[:, 5] = tone(SECONDS, 48_000)
    check(pcm_file(wide, 48_000), 48_000, 8)


def test_clipping_is_measured():
    loud = np.clip(tone(SECONDS, 44_100, level=1.4), -1, 1)
    assert 0.3 < decode(pcm_file(loud, 44_100)).clipped < 0.7
    assert decode(pcm_file(tone(SECONDS, 44_100, level=0.95), 44_100)).clipped == 0


def test_not_a_number_becomes_silence():
    samples = tone(SECONDS, 44_100)
    samples[1000:1010] = np.nan
    samples[2000] = np.inf
    assert np.isfinite(decode(pcm_file(samples, 44_100, "WAV", "FLOAT")).samples).all()


def refused(data: bytes) -> str:
    with pytest.raises(SpeechError) as caught:
        decode(data)
    assert caught.value.field == "clip" and 400 <= caught.value.status < 500
    return caught.value.code


def test_an_empty_file():
    assert refused(b"") == "clip_empty"


@pytest.mark.parametrize("data", [
    b"hello, this is text", b"\0" * 5000, bytes(range(256)) * 40, b"%PDF-1.7 ", b"\x89PNG\r\n\x1a\n" + bytes(100),
    b"MZ" + bytes(2000), b"<html><audio></audio></html>", b"\xff", b"RIFF", b"RIFF\0\0\0\0AVI LIST",
], ids=repr)
def test_what_is_no_audio(data):
    assert refused(data) == "clip_not_audio"


def test_a_zip_is_no_audio():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.wav", pcm_file(tone(1, 16_000), 16_000))
    assert refused(buffer.getvalue()) == "clip_not_audio"


def test_a_film_without_sound():
    import av
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as file:
        stream = file.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 64
        for _ in range(5):
            file.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")))
        file.mux(stream.encode())
    assert refused(buffer.getvalue()) == "clip_no_sound"


def test_nothing_but_the_bytes_is_read(tmp_path):
    """Playlists and references inside a file are not followed, to files or to addresses."""
    (tmp_path / "secret.wav").write_bytes(pcm_file(tone(1, 16_000), 16_000))
    called = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(1)

        def wait() -> None:
            try:
                listener.accept()[0].close()
                called.set()
            except OSError:
                pass

        waiter = threading.Thread(target=wait)
        waiter.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/a.wav"
        for target in (str(tmp_path / "secret.wav"), address):
            for text in (f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{target}\n#EXT-X-ENDLIST\n",
                         f"ffconcat version 1.0\nfile '{target}'\n", f"[playlist]\nFile1={target}\n",
                         f"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 9 {target}\n"):
                assert refused(text.encode()) == "clip_not_audio"
        waiter.join()
    assert not called.is_set()


@pytest.mark.parametrize("make", [
    lambda: pcm_file(tone(10, 44_100), 44_100),
    lambda: pcm_file(tone(10, 44_100), 44_100, "FLAC"),
    lambda: pcm_file(tone(10, 48_000), 48_000, "OGG", "OPUS"),
    lambda: coded_file(tone(10, 44_100), 44_100, "mp3", "libmp3lame"),
    lambda: coded_file(tone(10, 48_000), 48_000, "webm", "libopus"),
    lambda: coded_file(tone(10, 44_100), 44_100, "adts", "aac"),
], ids=["wav", "flac", "opus", "mp3", "webm", "aac"])
def test_a_truncated_file_gives_what_is_there(make):
    data = make()
    decoded = decode(data[:len(data) * 6 // 10])
    assert 4 < decoded.seconds < 8


def test_an_m4a_without_its_index_is_broken():
    data = coded_file(tone(10, 44_100), 44_100, "ipod", "aac")
    assert data.index(b"moov") > data.index(b"mdat")
    assert refused(data[:len(data) // 2]) == "clip_broken"


@pytest.mark.parametrize("keep", [12, 30, 44])
def test_a_wav_cut_in_its_header_is_broken(keep):
    assert refused(pcm_file(tone(1, 44_100), 44_100)[:keep]) == "clip_broken"


def test_damage_in_the_middle_does_not_stop_the_reading():
    data = bytearray(coded_file(tone(10, 44_100), 44_100, "mp3", "libmp3lame"))
    random = np.random.default_rng(0)
    for at in random.integers(2000, len(data), 60):
        data[at] ^= 0xFF
    assert decode(bytes(data)).seconds > 5


def test_random_damage_is_survived_or_refused():
    """Whatever happens to a file, it is decoded or refused in a sentence."""
    random = np.random.default_rng(1)
    sound = tone(1, 48_000)
    files = [pcm_file(sound, 48_000), pcm_file(sound, 48_000, "FLAC"), coded_file(sound, 48_000, "webm", "libopus"),
             coded_file(sound, 48_000, "ipod", "aac"), coded_file(sound, 48_000, "mp3", "libmp3lame"),
             pcm_file(sound, 48_000, "OGG", "VORBIS")]
    outcomes = set()
    for original in files:
        for _ in range(40):
            data = bytearray(original)
            for at in random.integers(0, min(len(data), 600), 8):
                data[at] = random.integers(0, 256)
            try:
                assert np.isfinite(decode(bytes(data)).samples).all()
                outcomes.add("decoded")
            except SpeechError as error:
                assert error.code.startswith("clip_")
                outcomes.add("refused")
    assert outcomes == {"decoded", "refused"}


def test_too_many_bytes():
    assert refused(b"RIFF" + bytes(20_000_001)) == "clip_too_large"


def test_a_decode_bomb_is_stopped_in_time():
    """Two hours of silence in some kilobytes of FLAC: refused at the ten-minute mark, in bounded memory."""
    bomb = pcm_file(np.zeros(16_000 * 7200, np.int16), 16_000, "FLAC")
    assert len(bomb) < 2_000_000
    tracemalloc.start()
    assert refused(bomb) == "recording_too_long"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 16_000 * 60 * bounds.MINUTES * 2 + 20_000_000


def test_a_header_that_lies_about_its_length():
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes((tone(2, 16_000) * 32767).astype("<i2").tobytes())
    data = bytearray(buffer.getvalue())
    data[4:8] = data[40:44] = struct.pack("<I", 0xFFFFFFF0)
    assert decode(bytes(data)).seconds == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize(("rate", "channels"), [(4_000, 1), (384_000, 1), (2_000_000_000, 1), (16_000, 16), (16_000, 255)])
def test_unusual_rates_and_channels(rate, channels):
    header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + 64_000, b"WAVE", b"fmt ", 16, 1, channels, rate,
                         rate * channels * 2 & 0xFFFFFFFF, channels * 2, 16, b"data", 64_000)
    assert refused(header + bytes(64_000)) in ("clip_unusual", "clip_broken")


def test_the_name_of_a_file_plays_no_part():
    decoded = decode(coded_file(tone(SECONDS, 44_100), 44_100, "ipod", "aac"))  # as somebody's "voice.mp3"
    assert decoded.seconds == pytest.approx(SECONDS, abs=0.15)
