"""``longhaul ui``: the page."""

from pathlib import Path

import click


@click.command()
@click.argument("directory", default=".", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, help="Port to listen on. Default: any free port."
)
@click.option("--no-open", is_flag=True, help="Do not open a browser; the address is printed either way.")
def ui(directory: Path, port: int, no_open: bool) -> None:
    """Open the page, which draws, runs, monitors and compares scenarios.

    It shows the scenario files of DIRECTORY (this one if left out) and the runs in its runs/. The server
    listens at 127.0.0.1 alone, and only who has the address that is printed can use it. Ctrl-C ends it, and
    with it the runs that the page started.

    \b
    longhaul ui
    longhaul ui experiments --port 8765 --no-open
    """
    from longhaul.page.serving import serve

    serve(directory, port=port, open_browser=not no_open, say=click.echo)
