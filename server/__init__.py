"""The HTTP edge: speech API, stream route, health and pool reports."""
