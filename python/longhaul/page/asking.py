"""From a request of HTTP to a plain function and back: JSON in, JSON out, errors as JSON."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from longhaul.errors import LonghaulError
from longhaul.page.refusals import RefusedError, as_json, status_of

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A request: parts of its path, its query, and its body, a JSON object."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)

    def text(self, name: str, *, most: int = 1 << 20) -> str:
        """A field of the body that must be text."""
        value = self.body.get(name)
        if not isinstance(value, str):
            raise RefusedError(400, f'"{name}" must be text')
        if len(value) > most:
            raise RefusedError(413, f'"{name}" has more than {most} characters')
        return value

    def texts(self, name: str) -> dict[str, str]:
        """A field of the body that may be left out, and else gives text to names."""
        value = self.body.get(name) or {}
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            raise RefusedError(400, f'"{name}" must be an object of texts')
        return value

    def whole(self, name: str, *, most: int) -> int | None:
        """A whole number of the body that may be left out."""
        value = self.body.get(name)
        if value is not None and (type(value) is not int or not 0 <= value <= most):
            raise RefusedError(400, f'"{name}" must be a whole number')
        return value

    def number(self, name: str, *, least: int, most: int, default: int | None = None) -> int:
        """A whole number of the query."""
        text = self.query.get(name)
        if text is None and default is not None:
            return default
        if text is None or not text.isdecimal() or len(text) > 20 or not least <= int(text) <= most:
            raise RefusedError(400, f'"{name}" must be a whole number from {least} to {most}')
        return int(text)


Answerer = Callable[[Asked], Mapping[str, Any]]
"""What is returned becomes JSON."""


def endpoint(answer: Answerer) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint of Starlette's that lets ``answer`` work in a thread."""

    async def endpoint(request: Request) -> Response:
        try:
            asked = Asked(request.path_params, request.query_params, await _body(request))
            found = await run_in_threadpool(answer, asked)
        except LonghaulError as error:
            return JSONResponse(as_json(error), status_of(error), headers={"cache-control": "no-store"})
        return JSONResponse(found, headers={"cache-control": "no-store"})

    return endpoint


async def _body(request: Request) -> Json:
    if request.method not in ("POST", "PUT"):
        return {}
    content = await request.body()
    try:
        body = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body is no JSON") from None
    if not isinstance(body, dict):
        raise RefusedError(400, "the body is no JSON object")
    if b"\\u" in content:
        try:
            json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = "the body contains half of a character (a lone surrogate)"
            raise RefusedError(400, message, remedy="send text that is valid in Unicode") from None
    return body
