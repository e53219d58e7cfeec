"""The login page: one field, nothing loaded from anywhere."""
from __future__ import annotations

import html
from math import ceil

from starlette.responses import HTMLResponse

from models.errors import SpeechError

WORDS = {
    "en": ("Log in to ReadyVoice", "Password", "Log in", "The start of the server shows the password, or whoever runs it "
           "can tell you."),
    "zh": ("登录 ReadyVoice", "密码", "登录", "密码会在服务器启动时显示，也可以向管理员询问。"),
}
STYLE = ("body{font:16px/1.6 system-ui,sans-serif;margin:0;display:grid;place-items:center;min-height:100vh;"
         "background:Canvas;color:CanvasText;color-scheme:light dark}form{width:min(22em,90vw);display:grid;gap:.7em}"
         "h1{font-size:1.4em;margin:0}input,button{font:inherit;padding:.6em .8em;border-radius:.5em;border:1px solid #8888}"
         "button{background:#2563eb;color:#fff;border:0;cursor:pointer}p{margin:0;opacity:.75}[role=alert]{opacity:1;"
         "color:#c2410c}")


def login_page(language: str, error: SpeechError | None = None, wait: float = 0.0) -> HTMLResponse:
    """401 with the form; with `error` over it, and 429 where there are `wait` seconds to wait."""
    title, label, button, hint = WORDS[language]
    told = f'<p role="alert">{html.escape(error.sentence(language))}</p>' if error else ""
    body = (f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style>'
            f'<form method="post" action="login"><h1>{title}</h1>{told}<label for="password">{label}</label>'
            f'<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>'
            f"<button>{button}</button><p>{hint}</p></form>")
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": str(ceil(wait))} if wait else {})
    return HTMLResponse(body, 429 if wait else 401, headers)
