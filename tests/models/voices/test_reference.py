from __future__ import annotations

import numpy as np
import pytest

from models.audio.encode import on_grid
from models.audio.resample import resample
from models.errors import SpeechError
from models.voices.reference import LEAST, MOST, check, crop, listen
from models.voices.transcript import token_error
from tests.models.voices.conftest import LINES
from tests.recordings import coded_file, pcm_file, tone

SCRIPT = " ".join(LINES)


def level(report, about: str) -> str | None:
    return next((finding.level for finding in report.findings if finding.about == about), None)


def refused(data: bytes) -> str:
    with pytest.raises(SpeechError) as caught:
        check(data)
    assert caught.value.field == "clip" and caught.value.status == 422
    return caught.value.code


def silence(seconds: float, rate: int) -> np.ndarray:
    return np.zeros(round(seconds * rate), np.float32)


@pytest.fixture(scope="module")
def plain(speech):
    samples, rate = speech
    return check(pcm_file(samples, rate))


def test_a_good_clip(plain, speech):
    report, clip = plain.report, plain.clip
    assert report.seconds == pytest.approx(len(speech[0]) / speech[1], abs=0.01)
    assert clip.sample_rate == speech[1] and clip.samples.dtype == np.float32 and clip.transcript == ""
    assert 12 < report.speech_seconds <= clip.seconds <= report.seconds
    assert report.speakers == 1 and report.clipping == 0 and report.noise_db > 30 and report.worst == "good"
    assert [finding.about for finding in report.findings] == ["duration", "pauses", "clipping", "noise", "speakers"]
    for finding in report.findings:
        assert finding.sentence("en")[-1] == "." and finding.sentence("zh")[-1] == "。"
    assert np.array_equal(on_grid(clip.samples), clip.samples)
    assert len(report.outline) == 600 and 0 < max(report.outline) <= 1


@pytest.mark.parametrize(("name", "make"), [
    ("8-bit wav", lambda sound, rate: pcm_file(sound, rate, "WAV", "PCM_U8")),
    ("24-bit wav", lambda sound, rate: pcm_file(sound, rate, "WAV", "PCM_24")),
    ("float wav, six channels", lambda sound, rate: pcm_file(sound, rate, "WAV", "FLOAT", 6)),
    ("8 kHz wav", lambda sound, rate: pcm_file(resample(sound, rate, 8_000), 8_000)),
    ("192 kHz flac", lambda sound, rate: pcm_file(resample(sound, rate, 192_000), 192_000, "FLAC", "PCM_24", 2)),
    ("mp3", lambda sound, rate: coded_file(sound, rate, "mp3", "libmp3lame", 2)),
    ("ogg vorbis", lambda sound, rate: pcm_file(sound, rate, "OGG", "VORBIS")),
    ("opus", lambda sound, rate: coded_file(sound, rate, "ogg", "libopus")),
    ("m4a", lambda sound, rate: coded_file(sound, rate, "ipod", "aac", 2)),
    ("webm of a browser", lambda sound, rate: coded_file(sound, rate, "webm", "libopus")),
])
def test_every_format_gives_the_same_clip(plain, speech, name, make):
    found = check(make(*speech))
    assert found.clip.seconds == pytest.approx(plain.clip.seconds, rel=0.05)
    assert found.report.speakers == 1 and level(found.report, "duration") == "good"
    assert level(found.report, "telephone") == ("fair" if name.startswith("8 kHz") else None)
    loudness = [np.sqrt(np.square(each.clip.samples).mean()) for each in (plain, found)]
    assert loudness[1] == pytest.approx(loudness[0], rel=0.15)


def test_loudness_is_evened_out(plain, speech):
    samples, rate = speech
    quiet, loud = check(pcm_file(samples * 0.03, rate, "WAV", "FLOAT")), check(pcm_file(samples * 0.9, rate))
    for found in (quiet, loud):
        assert np.sqrt(np.square(found.clip.samples).mean()) == pytest.approx(np.sqrt(np.square(plain.clip.samples).mean()), rel=0.05)


def test_silence_around_and_long_pauses_are_taken_out(plain, speech):
    samples, rate = speech
    half = len(samples) // 2
    spread = np.concatenate([silence(5, rate), samples[:half], silence(6, rate), samples[half:], silence(4, rate)])
    found = check(pcm_file(spread, rate))
    assert found.clip.seconds == pytest.approx(plain.clip.seconds, abs=1.0)
    assert level(found.report, "pauses") == "fair" and found.report.speech_share < 0.6
    first, last = found.report.kept[0][0], found.report.kept[-1][1]
    assert 4.5 < first < 5.5 and last < found.report.seconds - 3
    assert not any(start < 5 + half / rate + 3 < end for start, end in found.report.kept)
    assert sum(end - start for start, end in found.report.kept) == pytest.approx(found.clip.seconds, abs=0.01)


def test_a_long_recording_is_cut_at_a_pause(joe):
    pieces = [joe(line)[0] for line in LINES]
    rate = joe(LINES[0])[1]
    lines = [part for _ in range(6) for piece in pieces for part in (piece, silence(0.4, rate))]
    found = check(pcm_file(np.concatenate(lines), rate))
    assert MOST - 10 < found.clip.seconds <= MOST and level(found.report, "cut") == "fair"
    tail = found.clip.samples[-round(0.05 * rate):]
    assert np.sqrt(np.square(tail).mean()) < 0.1 * np.sqrt(np.square(found.clip.samples).mean())


def test_speech_without_any_pause_is_cut_at_the_limit(joe):
    samples, rate = joe(LINES[0])
    voiced = samples[round(0.3 * rate):round(2.0 * rate)]
    found = check(pcm_file(np.tile(voiced, 50), rate))
    assert MOST - 2.5 < found.clip.seconds <= MOST and level(found.report, "cut") == "fair"


def test_clipping_and_noise_are_reported(speech):
    samples, rate = speech
    loud = check(pcm_file(np.clip(samples * 12, -1, 1), rate))
    assert loud.report.clipping > 0.01 and level(loud.report, "clipping") == "poor" and loud.report.worst == "poor"
    noise = np.random.default_rng(0).normal(size=len(samples)).astype(np.float32) * np.sqrt(np.square(samples).mean())
    levels = []
    for decibels in (10, 20, 40):
        found = check(pcm_file((samples + noise * 10 ** (-decibels / 20)) * 0.5, rate))
        assert found.report.noise_db == pytest.approx(decibels, abs=3)
        levels.append(level(found.report, "noise"))
    assert levels == ["poor", "fair", "good"]


def test_a_second_speaker_is_suspected(speech):
    """The same words an octave of formants higher are another person's: resampled, so pitch and vocal tract both change."""
    samples, rate = speech
    other = resample(samples, rate, round(rate / 1.35))
    both = np.concatenate([samples[:8 * rate], silence(0.3, rate), other[:8 * rate]])
    found = check(pcm_file(both, rate))
    assert found.report.speakers == 2 and level(found.report, "speakers") == "poor"


def noises(rate: int = 16_000) -> dict[str, np.ndarray]:
    random, time = np.random.default_rng(0), np.arange(20 * rate) / rate
    white = random.normal(size=len(time))
    chord = sum(np.sin(2 * np.pi * pitch * time) * np.exp(-(time % 0.5) * 4) for pitch in (220, 277, 330, 440))
    tune = 220 * 2 ** (np.floor(time * 3) % 8 / 12)
    melody = sum(np.sin(2 * np.pi * number * np.cumsum(tune) / rate) / number for number in range(1, 6))
    hum = np.sin(2 * np.pi * 50 * time) + np.sin(2 * np.pi * 150 * time) / 3
    drums = white * np.exp(-(time % 0.4) * 30)
    return {"white": white, "chord": chord, "melody": melody, "hum": hum, "drums": drums,
            "waves": white * (1 + np.sin(2 * np.pi * 0.3 * time))}


@pytest.mark.parametrize("kind", noises())
def test_noise_and_music_alone_are_refused(kind):
    sound = noises()[kind]
    assert refused(pcm_file((0.3 * sound / np.abs(sound).max()).astype(np.float32), 16_000)) == "clip_no_speech"


@pytest.mark.parametrize("data", [np.zeros(80_000), np.full(80_000, 0.001), np.random.default_rng(0).normal(size=80_000) * 1e-4])
def test_silence_is_refused(data):
    assert refused(pcm_file(data.astype(np.float32), 16_000)) == "clip_silent"


def test_too_little_speech_is_refused(joe):
    samples, rate = joe(LINES[0])
    assert refused(pcm_file(samples[round(0.5 * rate):round(1.1 * rate)], rate)) == "clip_little_speech"
    assert refused(pcm_file(samples[:round(0.05 * rate)], rate)) in ("clip_little_speech", "clip_no_speech", "clip_silent")


def test_a_file_cut_off_in_its_first_second_is_called_broken(speech):
    whole = coded_file(*speech, "ogg", "libopus")
    assert refused(whole[:2500]) in ("clip_broken", "clip_little_speech", "clip_no_speech")


def test_a_damaged_file_says_so(speech):
    data = bytearray(coded_file(*speech, "mp3", "libmp3lame"))
    middle = len(data) // 2
    data[middle:middle + 3000] = bytes(3000)
    found = check(bytes(data))
    assert level(found.report, "damaged") == "fair" and level(found.report, "duration") == "good"


# -- transcripts


@pytest.fixture(scope="module")
def heard(plain):
    return listen(plain)


def test_the_transcript_is_filled_in(heard):
    assert heard.language == "en" and token_error(SCRIPT, heard.clip.transcript) < 0.1 and heard.matches
    words = heard.heard.words
    assert all(0 <= word.start <= word.end <= heard.clip.seconds for word in words) and len(words) > 40


def test_a_given_transcript_is_kept_and_compared(plain):
    right = listen(plain, SCRIPT, "en-GB")
    assert right.clip.transcript == SCRIPT and right.matches and right.language == "en"
    wrong = listen(plain, "It is a truth universally acknowledged that nothing of this was ever said here.")
    assert not wrong.matches and wrong.report.worst == "poor" and wrong.clip.transcript.startswith("It is a truth")
    assert wrong.clip.digest != right.clip.digest


def test_a_cut_clip_has_its_transcript_cut(joe, plain):
    text = "Before the rain there was a long warm night. " + SCRIPT + " And that is the end of the whole story."
    cut = listen(plain, text)
    assert cut.clip.transcript == SCRIPT and cut.matches


def test_cropping_cuts_words_and_sound_together(heard):
    words = heard.heard.words
    start = next(index for index, word in enumerate(words) if "We" in word.text)
    end = next(index for index, word in enumerate(words) if "gone" in word.text)
    part = crop(heard, words[start].start - 0.05, words[end].end + 0.05)
    assert token_error(LINES[1], part.clip.transcript) < 0.2 and part.matches
    assert part.clip.seconds == pytest.approx(words[end].end - words[start].start + 0.1, abs=0.05)
    assert sum(stop - begin for begin, stop in part.report.kept) == pytest.approx(part.clip.seconds, abs=0.02)
    again = listen(part)
    assert token_error(LINES[1], again.clip.transcript) < 0.2
    with pytest.raises(SpeechError, match="at least 1 s"):
        crop(heard, 1.0, 1.0 + LEAST / 2)


def test_a_transcript_beyond_measure_is_refused(plain):
    with pytest.raises(SpeechError) as caught:
        listen(plain, "word " * 5000)
    assert (caught.value.code, caught.value.field) == ("field_invalid", "transcript")


def test_a_tone_is_no_speech_whatever_it_says():
    assert refused(pcm_file(tone(5, 16_000), 16_000)) == "clip_no_speech"
