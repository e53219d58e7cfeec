"""Everything that makes sound. Imports neither `server` nor `ui`."""
