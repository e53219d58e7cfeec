"""What models made of saved voices' clips, kept beside the clips: a restart encodes nothing anew, and pinned voices are in
their sessions' caches before anybody asks."""
from __future__ import annotations

import logging
from collections import OrderedDict

from models.errors import SpeechError
from models.events import SpeechRequest
from models.pool import Pool
from models.session import Session
from models.voices import saved
from models.voices.clip import Clip
from models.voices.record import SavedVoice

log = logging.getLogger("readyvoice.voices")
PINNED = 16  # voices made ready at a start: what the caches hold
KNOWN = 1000  # of which it is remembered that they have been brought or kept
_known: OrderedDict[tuple, None] = OrderedDict()


def bring(session: Session, voice: SavedVoice, clip: Clip) -> bool:
    """Before a request: put the kept state of a voice into the session's cache. False when there is none to put, so that
    `keep` is worth calling after it."""
    mark = (session.spec.id, id(session.worker.loaded), clip.digest)
    if mark in _known or session.state != "ready" or not session.here:
        return True
    state = saved.library().state(voice.id, None, session.spec.id)
    if state is None:
        return False
    try:
        session.ask(lambda model: model.import_voice(clip, state))
    except ValueError:  # made by another checkpoint of that name
        return False
    _remember(mark)
    return True


def keep(session: Session, voice: SavedVoice, clip: Clip) -> None:
    """After a request: write down what the model made of the clip; it is in its cache."""
    try:
        state = session.ask(lambda model: model.export_voice(clip))
        saved.library().put_state(voice.id, None, session.spec.id, state)
    except SpeechError as error:  # unloaded or deleted meanwhile, or the disk is full: it is made again another time
        log.info("the state of voice %s was not kept: %s", voice.id, error)
        return
    _remember((session.spec.id, id(session.worker.loaded), clip.digest))


def ready_pinned(pool: Pool) -> None:
    """Have every pinned voice in the cache of each session that speaks in saved voices."""
    library = saved.library()
    pinned = sorted((voice for voice in library.list(None) if voice.pinned), key=lambda voice: voice.created)[-PINNED:]
    for session in pool.sessions.values():
        for voice in pinned if session.state == "ready" and session.saved_voices else ():
            try:
                if session.saved_voices == "clip":
                    clip = library.clip(voice.id, None)
                    if not bring(session, voice, clip):
                        keep(session, voice, clip)
                else:
                    session.run(SpeechRequest("Ready.", session.spec.id, f"{saved.PREFIX}{voice.id}"))
            except SpeechError as error:
                log.warning("the pinned voice %s is not ready in %s: %s", voice.name, session.spec.id, error)


def _remember(mark: tuple) -> None:
    _known[mark] = None
    while len(_known) > KNOWN:
        _known.popitem(last=False)
