"""The page: pieces laid out by Gradio, mounted at "/" of the product's app.

All it shows comes from the HTTP API (api/models, api/pool, api/stream, api/requests, api/voices), so it can open while models
still warm up, and a click goes from the browser straight to the stream with no event of Gradio in between.
"""
from __future__ import annotations

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when gradio is imported

import gradio as gr  # noqa: E402
from fastapi import FastAPI  # noqa: E402

from models.errors import SpeechError  # noqa: E402
from ui.assets import Assets  # noqa: E402
from ui.document import Document  # noqa: E402
from ui.endpoints import Calls, add_endpoints  # noqa: E402
from ui.piece import piece  # noqa: E402
from ui.theme import theme  # noqa: E402
from ui.unreadable import Unreadable  # noqa: E402


def build_page(assets: Assets, calls: Calls) -> gr.Blocks:
    with gr.Blocks(title="ReadyVoice", analytics_enabled=False) as page:
        piece(assets, "header")
        piece(assets, "tabs")
        with gr.Row(elem_classes="rv-columns rv-page-speak"):
            with gr.Column(scale=5, min_width=320, elem_classes="rv-card"):
                piece(assets, "composer")
                piece(assets, "player")
            with gr.Column(scale=3, min_width=300, elem_classes="rv-card"):
                piece(assets, "voices")
        with gr.Row(elem_classes="rv-columns rv-page-clone"):
            with gr.Column(scale=5, min_width=320, elem_classes="rv-card"):
                piece(assets, "clone")
            with gr.Column(scale=3, min_width=300, elem_classes="rv-card"):
                piece(assets, "library")
        with gr.Row(elem_classes="rv-columns rv-page-compare"):
            with gr.Column(elem_classes="rv-card"):
                piece(assets, "compare")
        piece(assets, "pool")
        add_endpoints(page, calls)
    # Gradio's queue looks for work every millisecond; nothing here needs it that often.
    page._queue.sleep_when_free = 0.05
    page._queue.progress_update_sleep_when_free = 0.2
    return page


def mount(app: FastAPI, calls: Calls) -> FastAPI:
    """Put the page at "/" of `app`; `calls` speak for its named endpoints. Call it after every other route: what it
    doesn't know, Gradio answers."""
    assets = Assets()
    assets.serve(app)
    app.add_middleware(Document, head=_first(assets))
    app.add_middleware(Unreadable)

    @app.post("/gradio_api/upload", include_in_schema=False)
    def no_upload():
        """Gradio would put any file of any size on the disk; nothing on the page sends it one."""
        raise SpeechError("route_unknown", method="POST", path="/gradio_api/upload")

    return gr.mount_gradio_app(
        app, build_page(assets, calls), path="/", theme=theme(), head=_styles(assets), footer_links=[],
        run_history=False, show_error=False, allowed_paths=[], mcp_server=False, ssr_mode=False, max_file_size=1024,
    )


def _first(assets: Assets) -> str:
    """What the browser should fetch while Gradio still starts."""
    return "\n".join([
        '<meta name="color-scheme" content="light dark">',
        f'<link rel="icon" type="image/svg+xml" href="{assets.url("base/icon.svg")}">',
        *(f'<link rel="preload" as="style" href="{assets.url(name)}">' for name in assets.named(".css")),
        *(f'<link rel="modulepreload" href="{assets.url(name)}">'
          for name in assets.named(".js") if not name.endswith("worklet.js")),
    ])


def _styles(assets: Assets) -> str:
    """Gradio appends these once its own styles stand, which ours have to follow."""
    return "\n".join(f'<link rel="stylesheet" href="{assets.url(name)}">' for name in assets.named(".css"))
