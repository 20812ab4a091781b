"""``longhaul ui``: a server at a loopback address, until it is stopped."""

import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType

import uvicorn

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page.application import application
from longhaul.page.guard import MOST_BYTES
from longhaul.page.protocol import PageProtocol, prepare_loop, raise_file_limit
from longhaul.run import sockets
from longhaul.subprocesses import python_code_command, trusted_path

ADDRESS = "127.0.0.1"
_PATIENCE_S = 2
"""For answers that are under way when the server is told to end."""


def serve(directory: Path, *, port: int, open_browser: bool, say: Callable[[str], None]) -> None:
    """Serve ``directory`` at ``port`` (0: any that is free) until SIGINT or SIGTERM.

    Where the page is goes to ``say``; the token in it is new each time. Raises LonghaulError.
    """
    if not directory.is_dir():
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f"{directory} is not a directory",
            remedy="make it, or name another",
            exit_code=2,
        )
    listener = _listen(port)
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(32)
    url = f"http://{ADDRESS}:{port}/#token={token}"
    app = application(directory.resolve(), token=token, port=port)
    config = uvicorn.Config(
        app,
        http=PageProtocol,
        loop="asyncio",
        # Of connections that are accepted in one turn; when there are no descriptors, each is logged.
        backlog=64,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE_S,
        lifespan="on",
        ws="wsproto",
        ws_max_size=MOST_BYTES,
        ws_per_message_deflate=False,
    )
    say(url)
    server = _Server(config, app.close)
    # Without a screen, a browser would take over the terminal.
    has_screen = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    with opened(url) if open_browser and has_screen else nullcontext():
        server.run(sockets=[listener])
    if not server.started:
        sys.exit(70)


@contextmanager
def opened(url: str) -> Iterator[None]:
    """Let a browser open ``url``.

    What programs are started with can be read by everybody on this machine, so the browser is given a file
    that only this user can read, and that leads on.
    """
    path = sockets.state_directory() / f"page-{os.getpid()}.html"
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">')
    threading.Thread(target=_show, args=(path.as_uri(),), daemon=True).start()
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _show(uri: str) -> None:
    command = python_code_command("import sys, webbrowser; webbrowser.open(sys.argv[1])", uri)
    subprocess.run(command, env={**os.environ, "PATH": trusted_path()}, check=False)


class _Server(uvicorn.Server):
    """Closes streams as soon as it is asked to shut down, without waiting for the timeout."""

    def __init__(self, config: uvicorn.Config, close: Callable[[], None]) -> None:
        super().__init__(config)
        self._close = close

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        raise_file_limit()
        prepare_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._close()
        super().handle_exit(sig, frame)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise LonghaulError(
            Code.CANNOT_LISTEN,
            f"cannot listen at {ADDRESS}:{port}: {error.strerror}",
            remedy="name another --port, or leave it out",
            exit_code=3,
        ) from error
    return listener
