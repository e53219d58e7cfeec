"""Samples to bytes, with a note in the file where it needs one."""
from __future__ import annotations

import io
import struct
import wave

import numpy as np

MAKER = "ReadyVoice"


def to_pcm16(samples: np.ndarray) -> bytes:
    """float32 mono in [-1, 1] to signed 16-bit little-endian; what lies outside is clipped, not wrapped."""
    return (np.clip(samples, -1.0, 1.0) * 32767.0).round().astype("<i2").tobytes()


def to_wav(samples: np.ndarray, sample_rate: int, note: str = "") -> bytes:
    """float32 mono samples as a 16-bit WAV file. note: written as its comment (RIFF LIST INFO, ICMT), with the maker."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(to_pcm16(samples))
    data = buffer.getvalue()
    if not note:
        return data
    info = info_chunk(note)
    return data[:4] + struct.pack("<I", len(data) + len(info) - 8) + data[8:] + info


def on_grid(samples: np.ndarray) -> np.ndarray:
    """float32 samples rounded to what 16 bits can say (k / 32768, no negative zeros): a file gives them back bit for bit."""
    return (np.clip(np.round(samples * 32768.0), -32768, 32767) / 32768.0 + 0.0).astype(np.float32)


def to_flac(samples: np.ndarray, sample_rate: int, note: str = "") -> bytes:
    """float32 mono samples as a 16-bit FLAC file; samples `on_grid` come back exactly."""
    import av

    whole = np.clip(np.round(samples * 32768.0), -32768, 32767).astype(np.int16)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="flac") as file:
        if note:
            file.metadata.update(comment=note, encoder=MAKER)
        stream = file.add_stream("flac", rate=sample_rate, layout="mono", format="s16")
        for start in range(0, len(whole), 4096):
            frame = av.AudioFrame.from_ndarray(whole[None, start:start + 4096], format="s16", layout="mono")
            frame.sample_rate, frame.pts = sample_rate, start
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return buffer.getvalue()


def info_chunk(note: str) -> bytes:
    """The WAV chunk that carries a comment and the maker; empty without a note."""
    return _chunk(b"LIST", b"INFO" + _chunk(b"ICMT", _text(note)) + _chunk(b"ISFT", _text(MAKER))) if note else b""


def synthetic_note(voice: str = "") -> str:
    """What a file of synthetic speech says of itself. voice: the name of the cloned one, "" for a stock voice."""
    if not voice:
        return f"Synthetic speech by {MAKER}: no person said this."
    return f"Synthetic speech by {MAKER} in the cloned voice \"{voice}\": no person said this."


def _text(text: str) -> bytes:
    return text.replace("\0", " ").encode() + b"\0"


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
