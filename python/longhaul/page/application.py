"""The server's addresses, and who answers at each."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from longhaul.page.asking import endpoint
from longhaul.page.guard import Guard
from longhaul.page.texts import Texts

STATIC = Path(__file__).parent / "static"
"""The built page."""


def application(directory: Path, *, token: str, port: int) -> Guard:
    """The server for ``directory``, which listens at ``port`` of 127.0.0.1 and knows ``token``."""
    texts = Texts(directory)
    api = [
        Route("/state", endpoint(texts.state)),
        Route("/schema", endpoint(texts.schema)),
        Route("/scenarios/{name}", endpoint(texts.scenario)),
        Route("/templates/{name}", endpoint(texts.template)),
        Route("/files/{name}", endpoint(texts.file)),
        Route("/files/{name}", endpoint(texts.save), methods=["PUT"]),
        Route("/check", endpoint(texts.check), methods=["POST"]),
        Route("/edit", endpoint(texts.edit), methods=["POST"]),
        Route("/quantity", endpoint(texts.quantity), methods=["POST"]),
        Route("/certificate", endpoint(texts.certificate)),
    ]
    handlers = {404: _not_found, 405: _not_found, 500: _broken}
    app = Starlette(
        routes=[
            Mount("/api", routes=api),
            Mount("/", StaticFiles(directory=STATIC, html=True, check_dir=False)),
        ],
        exception_handlers=handlers,
    )
    return Guard(app, token=token, port=port)


async def _not_found(_request: Request, _error: Exception) -> Response:
    told = {"message": "there is nothing here", "remedy": "open the address that longhaul ui printed"}
    return JSONResponse({"error": told}, 404)


async def _broken(_request: Request, error: Exception) -> Response:
    message = f"internal error: {type(error).__name__}: {error}"
    return JSONResponse({"error": {"message": message, "remedy": "report it"}}, 500)
