"""Options and output that ``import``, ``path`` and ``constellation`` share."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from longhaul.diagnostics import Code

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def quantity(kind: str, *option: str, **settings: Any) -> Decorator:
    """An option, as click declares it, with a value in the scenario's units; ``kind`` is Span or Rate."""

    def parse(_context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
        from longhaul.units import quantities

        try:
            return None if value is None else getattr(quantities, kind).parse(value)
        except quantities.UnitError as error:
            raise click.BadParameter(str(error), param=parameter) from None

    metavar = {"Span": "TIME", "Rate": "RATE"}[kind]
    return click.option(*option, callback=parse, metavar=metavar, **settings)


def out_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--out`` and ``--force``."""
    path = click.Path(path_type=Path, dir_okay=False)
    command = click.option("--force", is_flag=True, help="Overwrite an existing file.")(command)
    return click.option("--out", type=path, help="Output file of the scenario. Default: print.")(command)


def hand_over(text: str, warnings: tuple[str, ...], *, out: Path | None, force: bool) -> None:
    """Write or print a scenario; warnings go to standard error."""
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    if out is None:
        click.echo(text, nl=False)
        return
    write_scenario(out, text, force=force)


def write_scenario(out: Path, text: str, *, inputs: Mapping[Path, str] | None = None, force: bool) -> None:
    """Write a scenario and the files that it reads; none of them if one exists already, unless ``force``."""
    from longhaul.errors import LonghaulError

    files = {**(inputs or {}), out: text}
    existing = next((path for path in files if path.exists() and not force), None)
    try:
        if existing is not None:
            raise FileExistsError(existing)
        for path, content in files.items():
            with path.open("w" if force else "x", encoding="utf-8") as file:
                file.write(content)
    except FileExistsError:
        message, remedy = f"{existing or out} already exists", "choose another name, or add --force"
        raise LonghaulError(Code.FILE_EXISTS, message, remedy=remedy, exit_code=2) from None
    except OSError as error:
        message = f"cannot write {error.filename}: {(error.strerror or 'it fails').lower()}"
        raise LonghaulError(
            Code.FILE_UNWRITABLE, message, remedy="name a file in a folder that is there", exit_code=2
        ) from None
    click.echo(f"wrote {', '.join(map(str, files))}; next: longhaul check {out}")
