"""Every sentence a user may be told when something can't be done, in each language of the page."""
from models.messages import clips, requests, server

LANGUAGES = ("en", "zh")
MESSAGES: dict[str, dict] = requests.MESSAGES | clips.MESSAGES | server.MESSAGES
