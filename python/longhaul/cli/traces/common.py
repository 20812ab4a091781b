"""Arguments and options that the commands of traces share."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from longhaul.scenario.traces import Trace

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _link(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, str] | None:
    from longhaul.scenario.traces.files import ends_of

    return None if value is None else ends_of(value)


trace_argument: Decorator = click.argument("trace", metavar="TRACE")
link_option: Decorator = click.option(
    "--link",
    callback=_link,
    metavar="SOURCE:DESTINATION",
    help="Use only this link of a file with several links.",
)


def out_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--out`` and ``--force``."""
    path = click.Path(path_type=Path, dir_okay=False)
    command = click.option("--force", is_flag=True, help="Overwrite an existing file.")(command)
    return click.option(
        "--out", type=path, help="Output file: .csv, .parquet, .up or .down (mahimahi). Default: print CSV."
    )(command)


def warn(warnings: Sequence[str]) -> None:
    """Say what need not be wrong, on standard error."""
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)


def load(name: str, *, link: tuple[str, str] | None, bin_s: float = 1.0) -> "tuple[Trace, ...]":
    """The traces of a file or of a built-in set; warnings are said."""
    from longhaul.scenario.traces.files import read_traces
    from longhaul.scenario.traces.reshaping import only

    reading = read_traces(name, bin_s=bin_s)
    warn(reading.warnings)
    return only(reading.traces, link)


def hand_over(traces: "Sequence[Trace]", *, out: Path | None, force: bool) -> None:
    """Write or print ``traces``."""
    from longhaul.scenario.traces.csv_text import text_of_traces
    from longhaul.scenario.traces.files import write_traces

    if out is None:
        click.echo(text_of_traces(traces), nl=False)
        return
    write_traces(out, traces, force=force)
    click.echo(f"wrote {out}; next: longhaul trace show {out}")
