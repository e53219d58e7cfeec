"""`keys`: make, list and revoke the keys with which programs enter a server that has a password."""
from __future__ import annotations

import sys
import time

from server.auth.keys import KeyRing


def keys(action: str, name: str) -> int:
    """Returns the exit status. Raises SpeechError: field_invalid, key_taken or key_unknown."""
    ring = KeyRing()
    if action == "add":
        print(ring.add(name))
        print("this is shown once: send it as Authorization: Bearer KEY, or as the API key of an OpenAI client",
              file=sys.stderr)
    elif action == "revoke":
        ring.revoke(name)
        print(f"{name} is revoked", file=sys.stderr)
    else:
        for key in ring.all():
            print(f"{key.name}\tmade {time.strftime('%Y-%m-%d %H:%M', time.localtime(key.made))}")
    return 0
