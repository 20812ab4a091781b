"""``longhaul ui``: a server at a loopback address, until it is stopped."""

import os
import re
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.page.application import application
from longhaul.page.guard import MOST_BYTES
from longhaul.page.protocol import PageProtocol, prepare_loop, raise_file_limit
from longhaul.run import sockets
from longhaul.subprocesses import python_code_command, trusted_path

ADDRESS = "127.0.0.1"
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?")
_PATIENCE_S = 2
"""For answers that are under way when the server is told to end."""


@dataclass(frozen=True, kw_only=True)
class ListenAddress:
    """Where a server listens: at ``port`` of 127.0.0.1 (0: any that is free), or at the Unix socket ``path``.

    ``origins`` are the addresses that browsers have of a reverse proxy in front of the socket.
    """

    port: int = 0
    path: Path | None = None
    origins: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises LonghaulError if the options contradict each other, or an origin is not one."""
        if self.path is not None and self.port:
            raise _wrong("--socket and --port exclude each other", "leave out one of them")
        if self.origins and self.path is None:
            raise _wrong("--origin is the address of a proxy in front of --socket", "add --socket PATH")
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                message = f'"{printable(origin)}" is not an origin'
                raise _wrong(message, "write for example https://lab.example.org, without a path")

    @contextmanager
    def listening(self) -> Iterator[socket.socket]:
        """The socket that listens. Raises LonghaulError."""
        if self.path is None:
            yield _listen(self.port)
            return
        listener = _listen_at(self.path)
        try:
            yield listener
        finally:
            self.path.unlink(missing_ok=True)

    def urls(self, listener: socket.socket, token: str) -> list[str]:
        """What to open in a browser."""
        bases = self.origins
        if self.path is None:
            bases = (f"http://{ADDRESS}:{listener.getsockname()[1]}",)
        elif not bases:
            # As `ssh -L 8765:PATH HOST` forwards it.
            bases = ("http://localhost:8765",)
        return [f"{base}/#token={token}" for base in bases]


def _wrong(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.OPTION_CONFLICT, message, remedy=remedy, exit_code=2)


def serve(
    directory: Path,
    address: ListenAddress,
    *,
    open_browser: bool,
    read_only: bool,
    say: Callable[[str], None],
) -> None:
    """Serve ``directory`` at ``address`` until SIGINT or SIGTERM; ``read_only``: nobody can change anything.

    Where the page is goes to ``say``; the token in it is new each time. Raises LonghaulError.
    """
    address.check()
    if not directory.is_dir():
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f"{directory} is not a directory",
            remedy="make it, or name another",
            exit_code=2,
        )
    with address.listening() as listener:
        _serve(directory, address, listener, open_browser=open_browser, read_only=read_only, say=say)


def _serve(
    directory: Path,
    address: ListenAddress,
    listener: socket.socket,
    *,
    open_browser: bool,
    read_only: bool,
    say: Callable[[str], None],
) -> None:
    token = secrets.token_urlsafe(32)
    port = None if address.path else listener.getsockname()[1]
    app = application(
        directory.resolve(), token=token, port=port, origins=address.origins, read_only=read_only
    )
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
    urls = address.urls(listener, token)
    for url in urls:
        say(url)
    server = _Server(config, app.close)
    # Without a screen, a browser would take over the terminal.
    has_screen = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    opens = open_browser and has_screen and address.path is None
    with opened(urls[0]) if opens else nullcontext():
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


def _listen_at(path: Path) -> socket.socket:
    """A Unix socket that this user alone can connect to; one that a server left behind is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(path)
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise LonghaulError(
            Code.CANNOT_LISTEN,
            f"cannot listen at {path}: {error.strerror or error}",
            remedy="name another --socket, with at most 107 bytes, in a directory of yours",
            exit_code=3,
        ) from error
    return listener


def _remove_stale(path: Path) -> None:
    """Remove a socket at which nobody listens any more."""
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
