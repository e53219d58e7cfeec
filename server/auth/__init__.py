"""Who may enter: one gate in front of page, streams, files and API."""
