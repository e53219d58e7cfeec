"""Released checkpoints, by their first words in the package's own names."""
from __future__ import annotations

LANGUAGES = {"english": "en", "french": "fr", "german": "de", "portuguese": "pt", "italian": "it", "spanish": "es",
             "dutch": "nl"}
