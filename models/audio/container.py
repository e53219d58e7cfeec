"""What kind of file some bytes are, from their signature: a name never says so reliably."""
from __future__ import annotations


def container_of(data: bytes) -> str | None:
    """FFmpeg's name of the container, None when the bytes are no audio file we read.

    Signatures as in the formats' specifications (RIFF, FLAC, Ogg, ISO base media, EBML, MPEG audio, ADTS, ...).
    """
    start = data[:12]
    if start[:4] in (b"RIFF", b"RIFX", b"RF64", b"BW64") and start[8:] == b"WAVE":
        return "wav"
    if start[:4] == b"FORM" and start[8:] in (b"AIFF", b"AIFC"):
        return "aiff"
    if start[4:8] == b"ftyp" or start[4:8] == b"moov" or start[4:8] == b"mdat":
        return "mov"
    for signature, name in _SIGNATURES:
        if start.startswith(signature):
            return name
    if start[:3] == b"ID3":
        rest = data[_id3_size(data):][:4]
        return "flac" if rest == b"fLaC" else "aac" if _sync(rest) == "aac" else "mp3"
    return _sync(start)


_SIGNATURES = (
    (b"fLaC", "flac"), (b"OggS", "ogg"), (b"\x1aE\xdf\xa3", "matroska"), (b"riff\x2e\x91\xcf\x11", "w64"), (b".snd", "au"),
    (b"caff", "caf"), (b"#!AMR", "amr"), (b"wvpk", "wv"), (b"0&\xb2u\x8ef\xcf\x11", "asf"),
)


def _id3_size(data: bytes) -> int:
    size = 0
    for byte in data[6:10]:
        size = size << 7 | byte & 0x7F
    return size + 10


def _sync(start: bytes) -> str | None:
    """MPEG audio and ADTS frames begin with eleven or twelve set bits; the layer field tells them apart."""
    if len(start) < 4 or start[0] != 0xFF or start[1] & 0xE0 != 0xE0:
        return None
    if start[1] & 0xF6 == 0xF0:
        return "aac"
    layer, bitrate, rate = start[1] & 0x06, start[2] >> 4, start[2] >> 2 & 3
    return "mp3" if layer and bitrate not in (0, 15) and rate != 3 else None
