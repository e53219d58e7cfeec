"""A saved voice as one zip file, and the check of one that comes from anywhere."""
from __future__ import annotations

import io
import lzma
import zipfile
from collections.abc import Mapping
from dataclasses import replace

from models.audio.decode import decode
from models.errors import SpeechError
from models.voices.record import MODEL, SavedVoice, from_json

MOST_BYTES = 64_000_000  # of the file
MOST_FILES = 24
MOST_SECONDS = 61.0  # a reference clip has 60 at most
LIMITS = {"meta.json": 100_000, "clip.flac": 20_000_000}  # unpacked
STATE_LIMIT = 32_000_000
# what zipfile and its decompressors raise for a file that is damaged, encrypted or packed in ways they don't know
BROKEN = (zipfile.BadZipFile, lzma.LZMAError, zipfile.zlib.error, NotImplementedError, RuntimeError, EOFError, OSError,
          ValueError)
TOTAL_LIMIT = 96_000_000


def packed(voice: SavedVoice, parts: Mapping[str, bytes]) -> bytes:
    """A zip file of meta.json and `parts` (clip.flac, states/MODEL.safetensors)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.json", voice.to_json())
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def unpacked(data: bytes) -> tuple[SavedVoice, dict[str, bytes]]:
    """The record and the parts, all checked. Only names that we write ourselves are read, each once and within its limit.

    Raises SpeechError("voice_file_invalid").
    """
    if len(data) > MOST_BYTES:
        raise _invalid(f"it is larger than {MOST_BYTES // 1_000_000} MB", f"文件超过 {MOST_BYTES // 1_000_000} MB")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_entries(entries)
            parts = {entry.filename: _content(archive, entry) for entry in entries}
    except BROKEN as error:
        raise _invalid("it is no sound zip file", "不是完好的 zip 文件") from error
    try:
        voice = from_json(parts.pop("meta.json"))
    except (ValueError, RecursionError) as error:
        raise _invalid("its record can't be read", "记录无法读取") from error
    return replace(voice, seconds=_seconds(parts["clip.flac"])), _states_checked(parts)


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    if len(names) > MOST_FILES or len(set(names)) != len(names):
        raise _invalid("it has too many files", "文件数量过多")
    if not {"meta.json", "clip.flac"} <= set(names):
        raise _invalid("its clip or its record is missing", "缺少音频或记录")
    for entry in entries:
        if not (entry.filename in LIMITS or _is_state(entry.filename)) or entry.is_dir():
            raise _invalid("it has a file that doesn't belong in it", "含有不应存在的文件")
        if entry.file_size > LIMITS.get(entry.filename, STATE_LIMIT):
            raise _invalid("one of its files is too large", "其中有文件过大")
    if sum(entry.file_size for entry in entries) > TOTAL_LIMIT:
        raise _invalid("it unpacks to too much", "解压后过大")


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Read within the announced size: zipfile itself stops there and checks the sum."""
    with archive.open(entry) as stream:
        content = stream.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise zipfile.BadZipFile("size")
    return content


def _is_state(name: str) -> bool:
    folder, _, file = name.partition("/")
    return folder == "states" and file.endswith(".safetensors") and bool(MODEL.fullmatch(file.removesuffix(".safetensors")))


def _seconds(clip: bytes) -> float:
    if clip[:4] != b"fLaC":
        raise _invalid("its clip is no FLAC file", "音频不是 FLAC 格式")
    try:
        seconds = round(decode(clip).seconds, 2)
    except SpeechError as error:
        raise _invalid("its clip can't be read", "音频无法读取") from error
    if seconds > MOST_SECONDS:
        raise _invalid(f"its clip lasts longer than {MOST_SECONDS:g} s", f"音频超过 {MOST_SECONDS:g} 秒")
    return seconds


def _states_checked(parts: dict[str, bytes]) -> dict[str, bytes]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    for name, data in parts.items():
        if _is_state(name):
            try:
                load(data)
            except (SafetensorError, ValueError, TypeError, KeyError) as error:
                raise _invalid("one of its states can't be read", "状态数据无法读取") from error
    return parts


def _invalid(english: str, chinese: str) -> SpeechError:
    return SpeechError("voice_file_invalid", "file", reason={"en": english, "zh": chinese})
