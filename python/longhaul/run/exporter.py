"""The HTTP endpoint for Prometheus."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from longhaul import processes
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run import session
from longhaul.run.metrics import CONTENT_TYPE, Metrics
from longhaul.subprocesses import python_command


def listen(address: str) -> socket.socket:
    """A listening socket at ``address``, ``ADDRESS:PORT``. Raises LonghaulError."""
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, int(port)), family=family)
    except OSError as error:
        # Below zero are those of getaddrinfo.
        unknown = (error.errno or 0) < 0
        reason = f'there is no address "{host}"' if unknown else os.strerror(error.errno or 0)
        raise LonghaulError(
            Code.CANNOT_LISTEN,
            f"--prometheus: cannot listen at {address}: {reason}",
            remedy=f"name another {'one' if unknown else 'port'}, such as --prometheus=127.0.0.1:9465",
            exit_code=3,
        ) from error


@contextmanager
def serving(listener: socket.socket, directory: Path, supervisor: Path) -> Iterator[None]:
    """Answer at ``listener`` for the run in ``directory``, whose supervisor listens at ``supervisor``."""
    server = _server(listener, Metrics(directory, supervisor))
    thread = Thread(target=server.serve_forever, name="prometheus", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def serve_apart(listener: socket.socket, directory: Path, supervisor: Path) -> None:
    """The same in a process of its own, which ends with the run."""
    orders = {
        "listener": listener.fileno(),
        "directory": str(directory.resolve()),
        "supervisor": str(supervisor),
    }
    with (directory / "logs" / "prometheus.err").open("wb") as errors:
        subprocess.Popen(
            python_command(processes.EXPORTER, json.dumps(orders)),
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
    listener.close()


def _server(listener: socket.socket, metrics: Metrics) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.partition("?")[0] == "/metrics"
            body = (metrics.text() if found else "The metrics are at /metrics.\n").encode()
            # A scrape that gave up is nobody's problem here.
            with suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", CONTENT_TYPE if found else "text/plain; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            """Nobody reads a log of scrapes."""

    server = ThreadingHTTPServer(("", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    return server


def main() -> None:
    """Serve as the orders on the command line say, until the supervisor is gone."""
    orders = json.loads(sys.argv[1])
    listener = socket.socket(fileno=orders["listener"])
    supervisor = Path(orders["supervisor"])
    line = session.connect(supervisor)
    with serving(listener, Path(orders["directory"]), supervisor):
        while line.hear() is not None:
            pass


if __name__ == "__main__":
    main()
