"""The routes of OpenAI's audio API, under /v1, on the same sessions as the page."""
