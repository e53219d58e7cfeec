"""The page's colours and type: quiet slate with one accent, and only fonts the reader already has."""
from __future__ import annotations

import gradio as gr

SANS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "PingFang SC", "Hiragino Sans GB",
        "Microsoft YaHei", "Noto Sans CJK SC", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")


def theme() -> gr.themes.Base:
    return gr.themes.Base(
        primary_hue=gr.themes.colors.teal,
        neutral_hue=gr.themes.colors.slate,
        radius_size=gr.themes.sizes.radius_lg,
        font=SANS,
        font_mono=MONO,
    ).set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        block_background_fill="white",
        block_background_fill_dark="*neutral_900",
        block_border_width="0px",
        border_color_primary="*neutral_200",
        border_color_primary_dark="*neutral_800",
    )
