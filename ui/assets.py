"""The page's own files, held in memory and served below a path that names their content.

A browser may keep them for good (another version has another address), relative imports and sub-paths just work, and
no request ever reaches the file system.
"""
from __future__ import annotations

import hashlib
from pathlib import Path

from fastapi import FastAPI, Response

ROOT = Path(__file__).resolve().parent
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


class Assets:
    """Every file below `root` with a suffix in TYPES, as it was when this object was made."""

    def __init__(self, root: Path = ROOT):
        self.files = {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*")) if path.suffix in TYPES and path.is_file()
        }
        digest = hashlib.sha256()
        for name, content in self.files.items():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        self.base = f"ui/{digest.hexdigest()[:12]}"

    def url(self, name: str) -> str:
        """The address of a file, relative to the page. Raises KeyError when there is none."""
        self.files[name]
        return f"{self.base}/{name}"

    def named(self, suffix: str) -> list[str]:
        return [name for name in self.files if name.endswith(suffix)]

    def serve(self, app: FastAPI) -> None:
        """Add the route. Call before anything is mounted at "/"."""

        @app.get(f"/{self.base}/{{name:path}}", include_in_schema=False)
        async def asset(name: str) -> Response:
            content = self.files.get(name)
            if content is None:
                return Response(status_code=404)
            headers = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
            return Response(content, media_type=TYPES[Path(name).suffix], headers=headers)
