"""espeak-ng through ctypes: text to IPA, clause by clause, with the punctuation kept.

The library and its data come from the PyPI package espeakng-loader. espeak-ng keeps global state: one lock for all.
"""
from __future__ import annotations

import ctypes
import re
import threading
from functools import lru_cache

_UTF8, _IPA, _TIE_BIT = 1, 0x02, 0x80
_RETRIEVAL, _DONT_EXIT = 1, 0x8000
_MARK = re.compile(r"[.,;:?!…。、，；：？！।॥—–\n]")
_NAMED = {"。": ".", "、": ",", "，": ",", "；": ";", "：": ":", "？": "?", "！": "!", "।": ".", "॥": ".", "…": ".",
          "—": ";", "–": ";", "\n": "."}
_FLAG = re.compile(r"\([a-z]{2,3}(?:-[a-z-]+)?\)")  # "(en)": espeak changed its voice for a foreign word
_lock = threading.Lock()


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    import espeakng_loader

    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_Initialize.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
    library.espeak_SetVoiceByName.argtypes = [ctypes.c_char_p]
    library.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_int]
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    rate = library.espeak_Initialize(_RETRIEVAL, 0, espeakng_loader.get_data_path().encode(), _DONT_EXIT)
    if rate <= 0:
        raise RuntimeError(f"espeak-ng could not start with the data in {espeakng_loader.get_data_path()}")
    return library


_voice = ""
_ALIASES = {"en-gb": "en", "fr-fr": "fr", "zh": "cmn"}  # names in use elsewhere for the same voice


def _use_voice(library: ctypes.CDLL, voice: str) -> None:
    global _voice
    if voice != _voice:
        if library.espeak_SetVoiceByName(_ALIASES.get(voice, voice).encode()) != 0:
            raise ValueError(f"espeak-ng has no voice {voice!r}")
        _voice = voice


def clauses(text: str, voice: str, tie: str = "") -> list[tuple[str, str]]:
    """(IPA, closing mark) of each clause; the mark is one of . , ; : ? ! or "" where the text just ends.

    tie: a character put between the letters of one sound ("^": t^ʃ), none by default. Raises ValueError for an
    unknown voice.
    """
    mode = _IPA | ((_TIE_BIT | ord(tie) << 8) if tie else 0)
    data = text.replace("\0", " ").encode("utf-8", "ignore")
    buffer = ctypes.create_string_buffer(data + b"\0\0\0\0")
    base = ctypes.addressof(buffer)
    pointer, at, found = ctypes.c_void_p(base), 0, []
    with _lock:
        library = _library()
        _use_voice(library, voice)
        while pointer.value:
            spoken = library.espeak_TextToPhonemes(ctypes.byref(pointer), _UTF8, mode) or b""
            end = pointer.value - base if pointer.value else len(data)
            mark = _closing_mark(data[at:end].decode("utf-8", "ignore"), at_end=not pointer.value)
            found.append((_FLAG.sub("", spoken.decode("utf-8", "ignore")).strip(), mark))
            at = end
    return [(ipa, mark) for ipa, mark in found if ipa or mark]


def _closing_mark(consumed: str, at_end: bool) -> str:
    marks = list(_MARK.finditer(consumed))
    if not marks:
        return ""
    last = marks[-1]
    if at_end and any(char.isalnum() for char in consumed[last.end():]):
        return ""
    return _NAMED.get(last.group(), last.group())


def ipa(text: str, voice: str) -> str:
    """IPA with stress marks and each clause's closing mark, as Piper voices expect."""
    parts = []
    for spoken, mark in clauses(text, voice):
        if spoken:
            parts.append(spoken + mark)
        elif parts and not parts[-1].endswith(mark):
            parts[-1] += mark
    return " ".join(parts)


def warm(voices: tuple[str, ...]) -> None:
    for voice in voices:
        ipa("a", voice)
