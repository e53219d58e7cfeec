"""Audio formats written while the sound is being made: what has been said so far can be sent, decoded and heard.

PyAV carries FFmpeg's encoders. Nothing here needs the length ahead: a WAV header says that it is unknown, as a FLAC
header does.
"""
from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from models.audio.encode import MAKER, info_chunk, to_pcm16

PCM_RATE = 24_000  # Hz of headerless samples, which can't tell theirs: what clients of this kind of API expect
UNKNOWN = 0xFFFFFFFF  # as the length of what isn't finished


class Encoder(Protocol):
    """One file being written. rate: Hz of the encoded sound. Any one thread at a time may use it."""

    rate: int

    def feed(self, samples: np.ndarray) -> bytes:
        """float32 mono samples in [-1, 1] at the input's rate; returns the bytes that are ready, maybe none."""

    def finish(self) -> bytes:
        """The rest. Nothing may be fed afterwards."""


@dataclass(frozen=True)
class Format:
    """mime: the content type. create: makes an encoder from (Hz of the input, note for the file's comment)."""

    mime: str
    create: Callable[[int, str], Encoder]


class _Resampler:
    """float32 mono from one rate to another, piece by piece."""

    def __init__(self, rate: int, to: int):
        import soxr

        self._stream = None if rate == to else soxr.ResampleStream(rate, to, 1, dtype="float32")

    def __call__(self, samples: np.ndarray, last: bool = False) -> np.ndarray:
        samples = np.ascontiguousarray(samples, np.float32)
        return samples if self._stream is None else self._stream.resample_chunk(samples, last=last)


class PcmEncoder:
    """Signed 16-bit little-endian mono samples at `PCM_RATE`, with no header."""

    def __init__(self, rate: int, note: str = ""):
        self.rate = PCM_RATE
        self._resampled = _Resampler(rate, PCM_RATE)

    def feed(self, samples: np.ndarray) -> bytes:
        return to_pcm16(self._resampled(samples))

    def finish(self) -> bytes:
        return to_pcm16(self._resampled(np.zeros(0, np.float32), last=True))


class WavEncoder:
    """16-bit mono WAV whose header gives its length as unknown. note: its comment, before the samples."""

    def __init__(self, rate: int, note: str = ""):
        self.rate = rate
        form = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, rate * 2, 2, 16)
        self._head = (b"RIFF" + struct.pack("<I", UNKNOWN) + b"WAVE" + form + info_chunk(note)
                      + b"data" + struct.pack("<I", UNKNOWN))

    def feed(self, samples: np.ndarray) -> bytes:
        head, self._head = self._head, b""
        return head + to_pcm16(samples)

    def finish(self) -> bytes:
        return self.feed(np.zeros(0, np.float32))


class _Pipe:
    """Where FFmpeg writes: it can't seek there, so it never goes back to correct a header."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def write(self, data: bytes) -> int:
        self._bytes += data
        return len(data)

    def take(self) -> bytes:
        taken, self._bytes = bytes(self._bytes), bytearray()
        return taken


class AvEncoder:
    """A codec of FFmpeg in its container. The sound keeps its rate where the codec has it, else takes the next higher
    one of the codec's."""

    def __init__(self, rate: int, note: str, codec: str, container: str, bits: int | None, options: dict[str, str]):
        import av

        rates = sorted(av.Codec(codec, "w").audio_rates or [rate])
        self.rate = next((known for known in rates if known >= rate), rates[-1])
        self._resampled = _Resampler(rate, self.rate)
        self._pipe, self._count = _Pipe(), 0
        self._file = av.open(self._pipe, "w", format=container, options={**options, "flush_packets": "1"})
        if note:
            self._file.metadata.update(comment=note, encoder=MAKER)
        self._stream = self._file.add_stream(codec, rate=self.rate, layout="mono")
        if bits:
            self._stream.bit_rate = bits

    def feed(self, samples: np.ndarray) -> bytes:
        self._encode(self._resampled(samples))
        return self._pipe.take()

    def finish(self) -> bytes:
        self._encode(self._resampled(np.zeros(0, np.float32), last=True))
        self._file.mux(self._stream.encode(None))
        self._file.close()
        return self._pipe.take()

    def _encode(self, samples: np.ndarray) -> None:
        import av

        if not len(samples):
            return
        frame = av.AudioFrame.from_ndarray(np.clip(samples, -1.0, 1.0)[None], format="flt", layout="mono")
        frame.sample_rate, frame.pts = self.rate, self._count
        self._count += len(samples)
        self._file.mux(self._stream.encode(frame))


def _av(codec: str, container: str, bits: int | None = None, **options: str) -> Callable[[int, str], Encoder]:
    return lambda rate, note="": AvEncoder(rate, note, codec, container, bits, options)


FORMATS = {
    "mp3": Format("audio/mpeg", _av("libmp3lame", "mp3", 96_000, write_xing="0")),
    "opus": Format("audio/ogg", _av("libopus", "ogg", 48_000, page_duration="60000")),  # microseconds a page
    "aac": Format("audio/aac", _av("aac", "adts", 96_000, write_id3v2="1")),
    "flac": Format("audio/flac", _av("flac", "flac")),
    "wav": Format("audio/wav", WavEncoder),
    "pcm": Format(f"audio/L16; rate={PCM_RATE}; channels=1; endianness=little-endian", PcmEncoder),
}


def warm() -> None:
    """Load every encoder, so that no request has to."""
    for form in FORMATS.values():
        encoder = form.create(PCM_RATE, "")
        encoder.feed(np.zeros(PCM_RATE // 10, np.float32))
        encoder.finish()
