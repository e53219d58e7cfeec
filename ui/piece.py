"""A piece of the page: a Gradio component made of real files, NAME.html and NAME.js in its own folder."""
from __future__ import annotations

from typing import Any

import gradio as gr

from ui.assets import ROOT, Assets

# Props reach the script as `props`; its module's mount(element, props) brings the markup to life.
ON_LOAD = "import(new URL(props.module, document.baseURI)).then((piece) => piece.mount(element, props));"


def piece(assets: Assets, name: str, **settings: Any) -> gr.HTML:
    """ui/NAME/NAME.html with `mount` of ui/NAME/NAME.js run on it. settings: plain values for that module.

    The markup has no template placeholders: its module fills it, in the reader's language.
    """
    return gr.HTML(
        html_template=(ROOT / name / f"{name}.html").read_text("utf-8"),
        js_on_load=ON_LOAD,
        apply_default_css=False,
        elem_classes=["rv", f"rv-{name}"],
        module=assets.url(f"{name}/{name}.js"),
        **settings,
    )
