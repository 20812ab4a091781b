"""HTTP requests to plain functions: JSON bodies, JSON responses, errors as JSON."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page.bodies import Body, read_body
from longhaul.page.refusals import RefusedError, as_json, status_of


@dataclass(frozen=True)
class Asked:
    """A request's address: parts of its path, and its query."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str, *, least: int, most: int, default: int | None = None) -> int:
        """A whole number of the query."""
        text = self.query.get(name)
        if text is None and default is not None:
            return default
        if text is None or not text.isdecimal() or len(text) > 20 or not least <= int(text) <= most:
            raise RefusedError(
                Code.PAGE_REQUEST, 400, f'"{name}" must be a whole number from {least} to {most}'
            )
        return int(text)


Answerer = Callable[[Asked], Mapping[str, Any]] | Callable[[Asked, Any], Mapping[str, Any]]
"""A handler. One that takes a body names its type, a ``Body``; what it returns becomes JSON."""


def body_type(answer: Answerer) -> type[Body] | None:
    """What ``answer`` takes as ``body``; ``None`` if it takes none."""
    found = get_type_hints(answer).get("body")
    assert found is None or issubclass(found, Body)
    return found


def endpoint(answer: Answerer) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint of Starlette's that lets ``answer`` work in a thread."""
    wanted = body_type(answer)

    async def endpoint(request: Request) -> Response:
        given: list[Any] = [Asked(request.path_params, request.query_params)]
        try:
            if wanted is not None:
                given.append(read_body(await request.body(), wanted))
            found = await run_in_threadpool(answer, *given)
        except LonghaulError as error:
            return JSONResponse(as_json(error), status_of(error), headers={"cache-control": "no-store"})
        response = JSONResponse(found, headers={"cache-control": "no-store"})
        if request.method != "GET":
            return response
        # Who asks again and again hears what is new alone.
        etag = f'"{hashlib.sha256(response.body).hexdigest()[:32]}"'
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers={"cache-control": "no-store", "etag": etag})
        response.headers["etag"] = etag
        return response

    return endpoint
