"""The server's addresses, and who answers at each."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from longhaul.page.asking import endpoint
from longhaul.page.experiments import Experiments
from longhaul.page.guard import TOO_LARGE, Guard
from longhaul.page.studies import Studies
from longhaul.page.texts import Texts
from longhaul.page.varied import Sweeps

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


def application(directory: Path, *, token: str, port: int) -> Application:
    """The server for ``directory``, which listens at ``port`` of 127.0.0.1 and knows ``token``."""
    texts = Texts(directory)
    experiments = Experiments(texts)
    sweeps = Sweeps(texts)
    studies = Studies(texts)
    api = [
        Route("/state", endpoint(texts.state)),
        Route("/schema", endpoint(texts.schema)),
        Route("/scenarios/{name}", endpoint(texts.scenario)),
        Route("/templates/{name}", endpoint(texts.template)),
        Route("/files/{name}", endpoint(texts.file)),
        Route("/files/{name}", endpoint(texts.save), methods=["PUT"]),
        Route("/check", endpoint(texts.check), methods=["POST"]),
        Route("/preflight", endpoint(texts.preflight), methods=["POST"]),
        Route("/edit", endpoint(texts.edit), methods=["POST"]),
        Route("/quantity", endpoint(texts.quantity), methods=["POST"]),
        Route("/certificate", endpoint(texts.certificate)),
        Route("/runs", endpoint(experiments.all)),
        Route("/runs", endpoint(experiments.start), methods=["POST"]),
        Route("/runs/{run}", endpoint(experiments.details)),
        Route("/runs/{run}/stop", endpoint(experiments.stop), methods=["POST"]),
        Route("/runs/{run}/set", endpoint(experiments.set), methods=["POST"]),
        Route("/runs/{run}/ticket", endpoint(experiments.ticket), methods=["POST"]),
        Route("/runs/{run}/logs/{program}", endpoint(experiments.log)),
        Route("/runs/{run}/series", endpoint(experiments.series)),
        Route("/runs/{run}/packets", endpoint(experiments.packets)),
        Route("/sweeps", endpoint(sweeps.start), methods=["POST"]),
        Route("/sweeps/{run}", endpoint(sweeps.look)),
        Route("/sweeps/{run}/stop", endpoint(sweeps.stop), methods=["POST"]),
        Route("/compare", endpoint(studies.compare), methods=["POST"]),
        Route("/transfers/policies", endpoint(studies.policies)),
        Route("/transfers/plan", endpoint(studies.plan), methods=["POST"]),
        Route("/events", experiments.events),
    ]
    handlers = {404: _not_found, 405: _not_found, 413: _too_large, 500: _broken}
    app = Starlette(
        routes=[
            Mount("/api", routes=api),
            Route("/reports/{ticket}", experiments.report),
            Mount("/", GZipMiddleware(_Page(directory=STATIC, html=True, check_dir=False))),
        ],
        exception_handlers=handlers,
    )
    return Application(Guard(app, token=token, port=port), experiments.close)


async def _not_found(_request: Request, _error: Exception) -> Response:
    told = {"message": "there is nothing here", "remedy": "open the address that longhaul ui printed"}
    return JSONResponse({"error": told}, 404)


async def _too_large(_request: Request, _error: Exception) -> Response:
    status, message, remedy = TOO_LARGE
    told = {"error": {"message": message, "remedy": remedy}}
    return JSONResponse(told, status, headers={"connection": "close"})


async def _broken(_request: Request, error: Exception) -> Response:
    message = f"internal error: {type(error).__name__}: {error}"
    return JSONResponse({"error": {"message": message, "remedy": "report it"}}, 500)
