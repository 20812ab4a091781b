"""Requests to an application without a network."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .answered import check_answer, read

PORT = 8000
TOKEN = "secret"
OURS = (("host", f"127.0.0.1:{PORT}"), ("authorization", f"Bearer {TOKEN}"))


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    app: Any,
    path: str,
    *,
    method: str = "GET",
    headers: Iterable[tuple[str, str]] = OURS,
    body: Any = None,
    chunks: Iterable[bytes] | None = None,
) -> Answer:
    """What ``app`` answers; a ``body`` is sent as JSON, ``chunks`` as they are."""
    content = list(chunks) if chunks is not None else [b"" if body is None else json.dumps(body).encode()]
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "client": ("127.0.0.1", 40_000),
        "server": ("127.0.0.1", PORT),
    }
    waiting = [
        {"type": "http.request", "body": each, "more_body": place < len(content) - 1}
        for place, each in enumerate(content)
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        if not waiting:
            # Whoever asked stays on the line.
            await asyncio.Event().wait()
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    start = next(each for each in sent if each["type"] == "http.response.start")
    got = b"".join(each.get("body", b"") for each in sent if each["type"] == "http.response.body")
    told = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    if told.get("content-type") == "application/json":
        check_answer(method, path, start["status"], read(got))
    return Answer(start["status"], told, got)
