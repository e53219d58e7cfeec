"""`serve`: config -> pool -> warm -> one ASGI app (API and page) -> serve."""
from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import uvicorn
from fastapi import FastAPI

from cli import running
from cli.fleet import fetch_weights, new_pool
from cli.parsing import one_parse_at_a_time
from cli.progress import Steps, since_start
from cli.reload import Reloader
from models.audio import streaming, watermark
from models.config import Config
from models.errors import SpeechError
from models.pool import Pool
from server.auth.gate import Gate
from server.auth.keys import KeyRing
from server.auth.password import VARIABLE, Password, password_for
from server.front import Front, early_app, full_app
from server.hardening import Hardened
from server.prepared import ready_pinned

PATIENCE = 5  # seconds streams may go on when the server is told to stop; then they are ended
GRACE = 7  # seconds after which whatever still hangs is cut off
LAST = 8.5  # seconds after which the process ends, whatever its threads still do


def serve(config: Config, file: Path, reread: Callable[[], Config], password_file: Path | None = None,
          pool_of: Callable[[Config, Steps], Pool] = new_pool) -> int:
    """Until SIGTERM or SIGINT; SIGHUP has the configuration's `file` read again, by `reread`. Returns exit status.
    pool_of: makes the pool, whose sessions may be elsewhere.

    Raises SpeechError("password_short") or OSError for a password that can't be used.
    """
    password = password_for(config.server.host, password_file)
    if config.server.watermark != "off" and not watermark.available():
        raise SpeechError("watermark_missing")
    one_parse_at_a_time()
    steps = Steps()
    try:
        listener = _listen(config.server.host, config.server.port)
    except OSError as error:
        steps.line(1, _cannot_listen(config, error), always=True)
        return 1
    fetched, failures = [], []
    for spec in config.models:
        try:
            fetch_weights(config.only(spec.id), steps)
            fetched.append(spec.id)
        except SpeechError as error:
            failures.append(error)
            steps.line(3, error.sentence(), always=True)
    if not fetched:
        return 1
    with listener, running.noted(config.server.host, listener.getsockname()[1], file):
        return asyncio.run(_serve(pool_of(config, steps), listener, reread, steps, password))


class _Server(uvicorn.Server):
    """uvicorn raises the signal again once it has stopped, which would kill us before the sessions are closed."""

    def __init__(self, end_streams: Callable[[], None], config: uvicorn.Config):
        super().__init__(config)
        self._end_streams = end_streams

    @contextlib.contextmanager
    def capture_signals(self):
        yield

    def stop(self) -> None:
        """No new connections; streams go on for a while, a second call ends them at once."""
        if self.should_exit:
            self._end_streams()
        else:
            self.should_exit = True
            last = threading.Timer(LAST, _end)  # a fit in the middle of a step, a library that waits for its threads
            last.daemon = True
            last.start()
            asyncio.get_running_loop().call_later(PATIENCE, self._end_streams)


async def _serve(pool: Pool, listener: socket.socket, reread: Callable[[], Config], steps: Steps,
                 password: Password | None) -> int:
    config = pool.config
    front = Front(early_app(pool))
    entry = Hardened(Gate(front, password.text, KeyRing()) if password else front)
    ending = functools.partial(threading.Thread, target=pool.close, name="ending", daemon=True)
    server = _Server(lambda: ending().start(), uvicorn.Config(entry, log_config=None, access_log=False, lifespan="off",
                                           timeout_graceful_shutdown=GRACE, server_header=False,
                                           forwarded_allow_ips=config.server.trusted_proxies))
    logging.getLogger("uvicorn.error").addFilter(_not_a_broken_stream)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, server.stop)
    reloader = Reloader(pool, reread, steps)
    _on_hang_up(reloader.ask, server.stop)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    opening = asyncio.create_task(_open(pool, front, listener, steps, password))
    await asyncio.wait({serving, opening}, return_when=asyncio.FIRST_COMPLETED)
    reloading = None
    if opening.done() and not opening.result():
        server.should_exit = True
    elif opening.done():
        reloading = asyncio.create_task(reloader.serve())
    status = await serving or (1 if opening.done() and not opening.result() else 0)
    opening.cancel()
    if reloading is not None:
        reloading.cancel()
    await front.close()
    await asyncio.to_thread(pool.close)
    return status


async def _open(pool: Pool, front: Front, listener: socket.socket, steps: Steps, password: Password | None) -> bool:
    """Load the sessions, wait until they are warm, then open the page. False when not one of them can speak."""
    await asyncio.to_thread(pool.start)
    page = asyncio.create_task(asyncio.to_thread(_import_page))  # takes seconds, so beside the loading
    encoders = asyncio.create_task(asyncio.to_thread(streaming.warm))
    for session in pool.sessions.values():
        try:
            await asyncio.to_thread(session.wait_ready)
        except SpeechError:
            continue  # said by the watcher, shown on the page; a lazy one is still registered
    if not any(session.state == "ready" or session.lazy for session in pool.sessions.values()):
        steps.line(6, "no model could be started: see the lines above", always=True)
        return False
    app = full_app(pool, guarded=password is not None)
    (await page).mount(app, app.state.calls)
    await encoders
    if pool.config.server.watermark != "off":
        await asyncio.to_thread(watermark.marked, np.zeros(watermark.RATE, np.float32), watermark.RATE)
    await _first_calls(app, pool)
    await asyncio.to_thread(ready_pinned, pool)
    await front.switch(app)
    if not pool.ready:
        steps.line(6, "not every model is ready: the page shows which", always=True)
    host, port = listener.getsockname()[:2]
    address = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}"
    steps.line(6, f"ready: {address} ({since_start():.1f} s in all)")
    if password and password.made:
        steps.line(6, f"password for this start: {password.text} (or open {address}/?token={password.text}); "
                      f"{VARIABLE} or --password-file sets one that stays")
    threading.Thread(target=_fetch_tools, args=(steps,), name="tools", daemon=True).start()
    return True


def _fetch_tools(steps: Steps) -> None:
    """What the first clip needs, after the first start: then a machine that is taken off the network can clone too."""
    from models.voices import tools

    try:
        tools.fetch(lambda line: steps.line(6, f"for cloning: {line}"))
    except SpeechError as error:
        steps.line(6, f"cloning isn't prepared, the next start tries again: {error.sentence()}", always=True)
    except Exception:
        logging.getLogger("readyvoice.serve").exception("the tools for cloning could not be fetched")


async def _first_calls(app: FastAPI, pool: Pool) -> None:
    """The first call through an ASGI app builds its routes and middleware: make it ours, not a user's. The page too."""
    spoken = [{"text": "Everything is ready now.", "model": name} for name, session in pool.sessions.items()
              if session.state == "ready"]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://readyvoice", timeout=60) as client:
        for call in (client.get("/"), *(client.post("/api/stream", json=body) for body in spoken)):
            try:
                await call
            except Exception:
                logging.getLogger("readyvoice.serve").exception("the first calls failed")


def _end() -> None:
    logging.shutdown()
    os._exit(0)


def _on_hang_up(reload: Callable[[], None], stop: Callable[[], None]) -> None:
    """SIGHUP asks for a reload, unless it comes because the terminal this was started in has been closed."""
    if hasattr(signal, "SIGHUP"):
        had = _has_terminal() and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN  # that is nohup: it goes on
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGHUP, lambda: stop() if had and not _has_terminal() else reload()
        )


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _import_page():
    from ui import page
    return page


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def _cannot_listen(config: Config, error: OSError) -> str:
    host, port = config.server.host, config.server.port
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken: stop what uses it or choose another with --port"
    if error.errno == errno.EACCES:
        return f"port {port} may not be used by this account: choose one above 1023 with --port"
    return f"can't listen on {host}:{port} ({error.strerror or error}): choose another address with --host"


def _not_a_broken_stream(record: logging.LogRecord) -> bool:
    """A stream that fails after its first sound ends its connection on purpose: that is no fault of the server's."""
    return "returned without completing response" not in record.getMessage()


def set_up_logs(log_file: str | None) -> None:
    """Warnings to stderr; everything, with dates, to the log file when there is one."""
    form = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    console = logging.StreamHandler(sys.stderr)
    console.setLevel(logging.WARNING)
    handlers: list[logging.Handler] = [console]
    if log_file:
        file = logging.FileHandler(log_file, encoding="utf-8")
        logging.getLogger("readyvoice").setLevel(logging.INFO)
        handlers.append(file)
    for handler in handlers:
        handler.setFormatter(form)
        logging.getLogger().addHandler(handler)
