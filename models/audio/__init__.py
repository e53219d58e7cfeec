"""Sample-level helpers: PCM, WAV, loudness."""
