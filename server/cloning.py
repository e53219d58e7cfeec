"""What the cloning routes share: clips at hand and the benches that work on them, ended with the server."""
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from server.drafts import Drafts
from server.workbench import Workbench

SWEEP = 60.0  # seconds between two looks for clips nobody asks for any more


class Cloning:
    def __init__(self) -> None:
        self.drafts = Drafts()
        self.previews, self.fits = Workbench("previews"), Workbench("fits")

    @asynccontextmanager
    async def life(self, app: object) -> AsyncIterator[None]:
        """A FastAPI lifespan."""
        sweeping = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            self.previews.close()
            self.fits.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            self.drafts.sweep()
