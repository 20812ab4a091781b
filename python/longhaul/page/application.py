"""The HTTP application: the API behind its guard, and the built page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from longhaul.diagnostics import Code
from longhaul.page.addresses import addresses
from longhaul.page.guard import TOO_LARGE, Guard, Sites
from longhaul.page.json_requests import endpoint
from longhaul.page.responses.texts import Refused
from longhaul.page.services import Services

STATIC = Path(__file__).parent / "static"
"""The built page."""


class _Page(StaticFiles):
    """Files of the page; those whose names change with what is in them are kept by browsers."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        is_named = "/assets/" in str(arguments[0])
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if is_named else "no-cache"
        return response


@dataclass(frozen=True)
class Application:
    """A server's answers."""

    guard: Guard
    close: Callable[[], None]
    """Ends what would go on for ever; from any thread."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        await self.guard(scope, receive, send)


def application(
    directory: Path, *, token: str, port: int | None, origins: Iterable[str] = (), read_only: bool = False
) -> Application:
    """The server for ``directory``, which listens at ``port`` of 127.0.0.1 and knows ``token``.

    Without a port it listens at a Unix socket, and ``origins`` are those of its proxies. ``read_only``:
    requests that would change something are refused.
    """
    services = Services.of(directory, read_only=read_only)
    experiments = services.experiments
    api: list[BaseRoute] = [
        Route(
            each.route,
            _read_only if read_only and each.changes else endpoint(each.answer),
            methods=[each.method],
        )
        for each in addresses(services)
    ]
    api.append(Route("/events", experiments.events))
    if not read_only:
        api.append(WebSocketRoute("/runs/{run}/terminals/{terminal}", services.hosts.terminal))
    handlers = {404: _not_found, 405: _not_found, 413: _too_large, 500: _broken}
    app = Starlette(
        routes=[
            # Streams of events are compressed as they come, by the feed.
            Mount("/api", GZipMiddleware(Router(api), compresslevel=4)),
            Route("/reports/{ticket}", experiments.report),
            Mount("/", GZipMiddleware(_Page(directory=STATIC, html=True, check_dir=False))),
        ],
        exception_handlers=handlers,
    )

    return Application(Guard(app, token=token, sites=Sites(port=port, origins=origins)), services.close)


async def _not_found(_request: Request, _error: Exception) -> Response:
    remedy = "open the address that longhaul ui printed"
    return _refused(Code.PAGE_NOT_FOUND, 404, "there is nothing here", remedy)


async def _read_only(_request: Request) -> Response:
    remedy = "start longhaul ui without --read-only"
    return _refused(
        Code.PAGE_REQUEST, 403, "this server is read-only, and the request changes something", remedy
    )


async def _too_large(_request: Request, _error: Exception) -> Response:
    answer = _refused(Code.PAGE_REQUEST, *TOO_LARGE)
    answer.headers["connection"] = "close"
    return answer


async def _broken(_request: Request, error: Exception) -> Response:
    return _refused(Code.INTERNAL, 500, f"internal error: {type(error).__name__}: {error}", "report it")


def _refused(code: Code, status: int, message: str, remedy: str) -> Response:
    told: Refused = {"error": {"code": code, "message": message, "remedy": remedy}}
    return JSONResponse(told, status)
