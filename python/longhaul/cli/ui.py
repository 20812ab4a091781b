"""``longhaul ui``: the page."""

from pathlib import Path

import click


@click.command()
@click.argument("directory", default=".", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, help="Port to listen on. Default: any free port."
)
@click.option(
    "--socket",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Unix socket to listen at in place of a port, for a reverse proxy or ssh -L; only this user can"
    " connect.",
)
@click.option(
    "--origin",
    multiple=True,
    metavar="URL",
    help="With --socket: address of the reverse proxy in browsers, for example https://lab.example.org;"
    " may be repeated.",
)
@click.option(
    "--read-only", is_flag=True, help="Refuse all requests that change files, runs or results, and shells."
)
@click.option("--no-open", is_flag=True, help="Do not open a browser; the address is printed either way.")
def ui(
    directory: Path,
    port: int,
    socket: Path | None,
    origin: tuple[str, ...],
    *,
    read_only: bool,
    no_open: bool,
) -> None:
    """Open the page, which draws, runs, monitors and compares scenarios.

    It shows the scenario files of DIRECTORY (this one if left out) and the runs in its runs/. The server
    listens at 127.0.0.1 alone, and only who has the address that is printed can use it. Ctrl-C ends it, and
    with it the runs that the page started.

    \b
    longhaul ui
    longhaul ui experiments --port 8765 --no-open
    longhaul ui --read-only --socket page.sock --origin https://lab.example.org
    """
    from longhaul.page.serving import ListenAddress, serve

    address = ListenAddress(port=port, path=socket, origins=origin)
    serve(directory, address, open_browser=not no_open, read_only=read_only, say=click.echo)
