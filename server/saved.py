"""Speech requests that name saved voices: whether the asker may use them, and how the model gets to hear them."""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from models.audio import watermark
from models.errors import SpeechError
from models.events import SpeechRequest
from models.pool import Pool
from models.session import Session
from models.voices import saved
from models.voices.clip import Clip
from models.voices.record import SavedVoice
from server.prepared import bring, keep

NAMES = 6  # that a file's comment has room for


@dataclass(frozen=True)
class Destined:
    """A request with the session that takes it. cloned: the names of the saved voices it speaks in, "" for none. marked:
    whether its sound is to carry the watermark. after: to be called, on a thread, once it has ended."""

    session: Session
    request: SpeechRequest
    cloned: str = ""
    marked: bool = False
    after: Callable[[], None] | None = None


async def destined(pool: Pool, request: SpeechRequest, owner: str) -> Destined:
    """Raises SpeechError: model_unknown, saved_voice_unknown, saved_voice_unsupported or saved_mix_unsupported."""
    if saved.PREFIX in request.voice:
        found = await asyncio.to_thread(_with_saved, pool, request, owner)  # files are read
    else:
        found = Destined(pool.session_for(request), request)
    return replace(found, marked=watermark.wanted(pool.config.server.watermark, found.cloned))


def _with_saved(pool: Pool, request: SpeechRequest, owner: str) -> Destined:
    library = saved.library()
    voices = [library.get(voice_id, owner) for voice_id in saved.named(request.voice)]
    session = pool.session_for(request)
    names = " + ".join(voice.name for voice in voices[:NAMES]) + (" …" if len(voices) > NAMES else "")
    if session.saved_voices == "clip":
        if request.voice.strip() != f"{saved.PREFIX}{voices[0].id}":
            raise SpeechError("saved_mix_unsupported", "voice", model=session.spec.id)
        clip = clip_of(voices[0])
        after = None if bring(session, voices[0], clip) else partial(keep, session, voices[0], clip)
        return Destined(session, replace(request, voice="", clip=clip), names, after=after)
    if not session.saved_voices:
        able = [name for name, other in pool.sessions.items() if other.saved_voices]
        raise SpeechError("saved_voice_unsupported", "voice", model=session.spec.id, choices=able or "–")
    return Destined(session, request, names)


def clip_of(voice: SavedVoice) -> Clip:
    """A saved voice's clip. Ask whether it may be used first."""
    return _clip(saved.library().folder, voice.id, voice.transcript)


@lru_cache(maxsize=4)  # a minute of sound is some 10 MB
def _clip(folder: object, voice_id: str, transcript: str) -> Clip:
    """A saved voice's sound never changes, its transcript may."""
    return replace(saved.library().clip(voice_id, None), transcript=transcript)
