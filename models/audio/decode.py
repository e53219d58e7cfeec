"""Audio files that people have, as samples: any common container and codec, from bytes, within bounds.

PyAV carries FFmpeg's decoders. The container is told from the file's first bytes and never guessed by FFmpeg, whose
playlist formats would open other files and addresses; nothing but the given bytes is ever read.
"""
from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from models.audio.container import container_of
from models.errors import SpeechError

MEGABYTES = 20
MINUTES = 10
RATES = (8_000, 192_000)  # Hz a file may have
CHANNELS = 8
WORKING_RATES = (16_000, 48_000)  # Hz of what is handed on: a file's own rate where it lies between
CODECS = ("pcm_", "flac", "mp3", "mp2", "mp1", "vorbis", "opus", "libopus", "aac", "alac", "adpcm_", "amr", "libopencore_amr",
          "speex", "wavpack", "gsm", "wma")
CLIPPED = 0.99  # of full scale, for two samples in a row
CANCELLED = 0.05  # a mix this much weaker in power than its loudest channel: out of phase, or the others are empty


@dataclass(frozen=True)
class Decoded:
    """samples: float32 mono at sample_rate Hz. file_rate, channels: as the file has them. clipped: share of samples at
    full scale. broken: the file ends or is damaged before its end; what came before is in `samples`."""

    samples: np.ndarray
    sample_rate: int
    file_rate: int
    channels: int
    clipped: float
    broken: bool

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate


def decode(data: bytes) -> Decoded:
    """The whole file, mixed to mono, at 16 to 48 kHz.

    Raises SpeechError: clip_empty, clip_too_large (20 MB), recording_too_long (10 minutes, found while decoding),
    clip_not_audio, clip_broken (nothing of it can be decoded), clip_unusual (channels or rate out of bounds).
    """
    if not data:
        raise SpeechError("clip_empty", "clip")
    if len(data) > MEGABYTES * 1_000_000:
        raise SpeechError("clip_too_large", "clip", limit=MEGABYTES)
    container = container_of(data)
    if container is None:
        raise SpeechError("clip_not_audio", "clip")
    first = _Mixer(None)
    decoded = first.run(data, container)
    if first.cancelled:
        return _Mixer(first.loudest).run(data, container)
    return decoded


class _Mixer:
    """One pass over a file. only: the channel to keep, None for the mean of all."""

    def __init__(self, only: int | None):
        self._only = only
        self._mixed_power = 0.0
        self._powers = np.zeros(CHANNELS)
        self._clipped = self._count = 0

    @property
    def cancelled(self) -> bool:
        return self._mixed_power < CANCELLED * self._powers.max()

    @property
    def loudest(self) -> int:
        return int(self._powers.argmax())

    def run(self, data: bytes, container: str) -> Decoded:
        import soxr

        pieces: list[np.ndarray] = []
        stream = None
        file_rate = channels = rate = 0
        seconds, broken = 0.0, False
        for block in _blocks(data, container):
            if block is None:
                broken = True
                continue
            samples, block_rate = block
            if not file_rate:
                file_rate, channels = block_rate, len(samples)
                rate = min(max(file_rate, WORKING_RATES[0]), WORKING_RATES[1])
                stream = None if rate == file_rate else soxr.ResampleStream(file_rate, rate, 1, dtype="float32")
            seconds += samples.shape[1] / block_rate
            if seconds > MINUTES * 60:
                raise SpeechError("recording_too_long", "clip", minutes=MINUTES)
            if block_rate != file_rate or len(samples) != channels:  # a damaged frame, or another recording joined on
                broken = True
                continue
            mono = self._mix(samples)
            pieces.append(mono if stream is None else stream.resample_chunk(mono))
        if not pieces:
            raise SpeechError("clip_broken", "clip")
        if stream is not None:
            pieces.append(stream.resample_chunk(np.zeros(0, np.float32), last=True))
        samples = np.concatenate(pieces)
        if not len(samples):
            raise SpeechError("clip_broken", "clip")
        return Decoded(samples, rate, file_rate, channels, self._clipped / max(1, self._count), broken)

    def _mix(self, samples: np.ndarray) -> np.ndarray:
        """[channels, n] to float32 [n], keeping count of powers and of clipping."""
        loud = np.abs(samples) >= CLIPPED
        self._clipped += int((loud[:, 1:] & loud[:, :-1]).any(0).sum())
        self._count += samples.shape[1]
        mono = samples.mean(0) if self._only is None else samples[self._only]
        self._powers[:len(samples)] += np.square(samples, dtype=np.float64).sum(1)
        self._mixed_power += float(np.square(mono, dtype=np.float64).sum())
        return np.ascontiguousarray(mono, np.float32)


def _blocks(data: bytes, container: str) -> Iterator[tuple[np.ndarray, int] | None]:
    """Decoded blocks as (float32 [channels, n], Hz); None where something could not be decoded."""
    import av

    try:
        file = av.open(io.BytesIO(data), "r", format=container, metadata_errors="ignore", io_open=_refuse)
    except (av.FFmpegError, ValueError, OSError) as error:
        raise SpeechError("clip_broken", "clip") from error
    with file:
        stream = next(iter(file.streams.audio), None)
        if stream is None:
            raise SpeechError("clip_no_sound", "clip")
        codec = stream.codec_context
        if codec is None or not codec.name.startswith(CODECS):
            raise SpeechError("clip_not_audio", "clip")
        _check(codec.sample_rate, codec.channels)
        codec.thread_count = 1
        packets = file.demux(stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except (av.FFmpegError, ValueError):
                yield None
                return
            try:
                frames = packet.decode()
            except av.EOFError:
                return
            except (av.FFmpegError, ValueError):
                yield None
                continue
            for frame in frames:
                if frame.samples:
                    _check(frame.sample_rate, len(frame.layout.channels))
                    yield _as_float(frame.to_ndarray(), frame), frame.sample_rate


def _refuse(url: str, flags: int, options: dict) -> None:
    """What FFmpeg calls when a file wants another file."""
    raise SpeechError("clip_not_audio", "clip")


def _check(rate: int, channels: int) -> None:
    if not RATES[0] <= rate <= RATES[1] or not 1 <= channels <= CHANNELS:
        raise SpeechError("clip_unusual", "clip", channels=channels, rate=rate, most=CHANNELS, low=RATES[0] // 1000,
                          high=RATES[1] // 1000)


def _as_float(block: np.ndarray, frame) -> np.ndarray:
    """A frame's samples, planar or interleaved and of any number format, as float32 [channels, n] in [-1, 1]."""
    if not frame.format.is_planar:
        block = block.reshape(-1, len(frame.layout.channels)).T
    match block.dtype.kind:
        case "u":
            return (block.astype(np.float32) - 128.0) / 128.0
        case "i":
            return block.astype(np.float32) / float(2 ** (8 * block.dtype.itemsize - 1))
    return np.nan_to_num(block.astype(np.float32), nan=0.0, posinf=1.0, neginf=-1.0)
