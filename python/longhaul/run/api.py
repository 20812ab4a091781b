"""The Python API: run a scenario, or start a network and work in it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from longhaul.analysis.outcome import Failure, Outcome
from longhaul.plan import Way
from longhaul.report.pictures import Drawings, Drawn
from longhaul.results.frames import Library, frame
from longhaul.run import conclusion, interventions, live, persistent_networks
from longhaul.run.live_links import LinkNow, Watch
from longhaul.run.virtual_clock import Clock, clock_of
from longhaul.subprocesses import python_command

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Result(Drawn):
    """A run that has ended. A notebook shows what its flows and pings got."""

    directory: Path
    """Its run directory, with tables, logs and report."""
    summary: Mapping[str, Any] = field(repr=False)
    """The contents of ``summary.json``."""
    exit_code: int
    """The exit code that ``longhaul run`` would have."""

    @property
    def outcome(self) -> Outcome:
        """How the run ended: its ``state``, a ``headline``, and every failure with place, reason and log."""
        return Outcome.from_dict(self.summary["outcome"])

    @property
    def good(self) -> bool:
        """Whether the run passed: nothing failed, and the network did what the scenario says."""
        return self.outcome.state == "passed"

    @property
    def failed(self) -> tuple[Failure, ...]:
        """What failed; empty if nothing did."""
        return self.outcome.failures

    @property
    def verdict(self) -> str:
        """``faithful``, ``degraded`` or ``invalid``."""
        return str(self.summary["fidelity"]["verdict"])

    @property
    def changes(self) -> Sequence[Mapping[str, Any]]:
        """Every change of the network, in order of time: events of the scenario and interventions."""
        found: Sequence[Mapping[str, Any]] = self.summary["changes"]
        return found

    @property
    def interventions(self) -> list[Mapping[str, Any]]:
        """The changes that are not in the scenario: time, link, old and new value, and who made them."""
        return [each for each in self.changes if each["kind"] == "intervention"]

    def flow(self, name: str) -> Mapping[str, Any]:
        """The results of a TCP or UDP flow. Raises KeyError with the names that there are."""
        return _named(self.summary["flows"], "flow", name)

    def probe(self, name: str) -> Mapping[str, Any]:
        """The results of a ping, whose times are in ns."""
        return _named(self.summary["probes"], "name", name)

    def link(self, name: str, way: Way = "forward") -> Mapping[str, Any]:
        """The configured and measured values of one direction of a link."""
        return _named([each for each in self.summary["links"] if each["way"] == way], "name", name)

    def table(self, name: str) -> dict[str, Any]:
        """The columns of a table: ``links``, ``flows``, ``probes``, ``packets``, ``monitor``, ``sockets`` ...

        Column names end in their unit. Raises KeyError if the run has no such table.
        """
        columns: dict[str, Any] = self._arrow(name).to_pydict()
        return columns

    def frame(self, name: str, library: Library = "pandas") -> Any:
        """The same table as a data frame of ``pandas`` or ``polars``.

        Install the library with ``pip install "longhaul[pandas]"`` or ``"longhaul[polars]"``. Raises KeyError
        if the run has no such table, and LonghaulError if the library is not installed.
        """
        return frame(self._arrow(name), library)

    def _arrow(self, name: str) -> "pa.Table":
        import pyarrow.parquet as pq

        path = self.directory / f"{name}.parquet"
        if not path.is_file():
            tables = sorted(each.stem for each in self.directory.glob("*.parquet"))
            raise KeyError(persistent_networks.unknown("table", name, tables))
        return pq.read_table(path)

    def _drawings(self) -> Drawings:
        from longhaul.report.html import drawings

        return drawings(self.directory)

    def _repr_html_(self) -> str:
        from longhaul.report.notebook import run_html
        from longhaul.results.directory import read_run

        return run_html(self.summary, mode=str(read_run(self.directory).get("mode") or "live"))


def output_of(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """All that a process writes until it ends, on standard output and standard error.

    Processes that it leaves behind may hold its pipes for ever: they have a second after it has ended.
    """
    while True:
        has_ended = process.poll() is not None
        try:
            return process.communicate(timeout=1)
        except subprocess.TimeoutExpired as so_far:
            if has_ended:
                # Bytes even of a process whose output is text.
                out, errors = (each or b"" for each in (so_far.output, so_far.stderr))
                return out.decode(errors="replace"), errors.decode(errors="replace")


class Network:
    """A network that is up. The end of its ``with`` block stops it; :attr:`result` then has the results."""

    def __init__(self, up: persistent_networks.Standing) -> None:
        """Made by :func:`up`."""
        self.name = up.name
        self.directory = up.directory
        self.result: Result | None = None
        self._watch: Watch | None = None

    def start(self, host: str, argv: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
        """Start a program in a host; ``options`` are those of ``subprocess.Popen``."""
        command = python_command("longhaul.cli.main", "exec", "--name", self.name, host, "--", *argv)
        process: subprocess.Popen[str] = subprocess.Popen(command, text=True, **options)
        return process

    def run(
        self, host: str, argv: Sequence[str], *, check: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program in a host, wait for it, and return its output; ``check`` raises if it fails.

        Processes that it leaves in the background continue, and their output is not awaited.
        """
        with self.start(host, argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, errors = output_of(process)
        done = subprocess.CompletedProcess(list(argv), process.returncode, out, errors)
        if check:
            done.check_returncode()
        return done

    def set(
        self,
        link: str,
        *,
        way: Way | None = None,
        route: int | None = None,
        up: bool | None = None,
        **models: Any,
    ) -> float:
        """Change models of a link now: ``set("wan", delay="60ms", loss="1%")``, ``set("wan", up=False)``.

        ``way`` is ``forward`` or ``reverse``, both if left out; ``route`` one of its parallel routes, from
        1. Returns when the change took effect, in seconds of the run's clock. Raises ScenarioError.
        """
        return interventions.set_link(self.name, link, models, up=up, way=way, route=route)

    def links(self) -> list[LinkNow]:
        """Throughput, utilisation and further figures of each direction of each link, over the latest second.

        The figures are those of ``longhaul run --watch`` and of the page. Empty until two samples were taken.
        """
        if self._watch is None:
            self._watch = Watch(self.directory)
        return self._watch.links()

    def status(self) -> dict[str, Any]:
        """The state of the run, as ``longhaul status --json`` prints it."""
        return persistent_networks.ask_status(self.name)

    def down(self) -> Result:
        """Stop the network and return its results; a second call returns the same results."""
        if self.result is None:
            self.result = _conclude(persistent_networks.take_down(self.name), reason="stopped", report=True)
        return self.result

    def __enter__(self) -> Self:
        """Return the network, which is up already."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop the network."""
        self.down()


def run_live(
    scenario: str | os.PathLike[str],
    *,
    params: Mapping[str, Any] | None = None,
    runs: str | os.PathLike[str] = "runs",
    seed: int | None = None,
    journal: bool = False,
    report: bool = True,
    clock: Clock = "real",
    kernel: str | None = None,
) -> Result:
    """Run the scenario in a file live, to its end. Raises LonghaulError if it is wrong or cannot run.

    On the ``virtual`` clock every host runs a Linux of its own: version ``kernel``, or else that which the
    scenario names, or the newest built.
    """
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(Path(scenario), settings=_settings(params)), seed=seed)
    chosen = clock_of(clock, resolved.scenario, kernel)
    prepared = live.prepare(resolved, runs=Path(runs), argv=sys.argv, journal=journal, clock=chosen)
    with conclusion.results_so_far(prepared.directory, report=report):
        finished = live.run(prepared, progress=conclusion.ignore)
    return _conclude(finished.directory, reason=finished.reason, report=report)


def run_sim(
    scenario: str | os.PathLike[str],
    *,
    params: Mapping[str, Any] | None = None,
    seed: int | None = None,
    runs: str | os.PathLike[str] = "runs",
    report: bool = True,
) -> Result:
    """Simulate the scenario in a file, with another ``seed`` if one is given. Raises LonghaulError."""
    from longhaul.run import sim
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(Path(scenario), settings=_settings(params)), seed=seed)
    finished = sim.run(resolved, runs=Path(runs), argv=sys.argv, progress=lambda _now, _real: None)
    return _conclude(finished.directory, reason=finished.reason, report=report)


def up(
    scenario: str | os.PathLike[str],
    *,
    name: str | None = None,
    params: Mapping[str, Any] | None = None,
    runs: str | os.PathLike[str] = "runs",
    clock: Clock = "real",
    kernel: str | None = None,
) -> Network:
    """Start the network of a scenario and keep it up.

    On the ``virtual`` clock, which is then never ahead of the real one, every host runs a Linux of its own,
    as for :func:`run_live`.

    >>> with longhaul.up("atlantic.yaml") as network:          # doctest: +SKIP
    ...     network.set("par-nyc", delay="80ms", loss="1%")
    ...     print(network.run("par1", ["ping", "-c", "3", "nyc1"]).stdout)
    """
    return Network(
        persistent_networks.bring_up(
            Path(scenario),
            settings=_settings(params),
            name=name,
            runs=Path(runs),
            argv=sys.argv,
            clock=clock,
            kernel=kernel,
        )
    )


def _settings(params: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: str(value) for name, value in (params or {}).items()}


def _conclude(directory: Path, *, reason: str, report: bool) -> Result:
    summary = conclusion.conclude(directory, reason=reason, report=report)
    return Result(directory, summary, conclusion.exit_code(summary))


def _named(rows: Sequence[Mapping[str, Any]], key: str, name: str) -> Mapping[str, Any]:
    for row in rows:
        if row[key] == name:
            return row
    raise KeyError(persistent_networks.unknown(key, name, [row[key] for row in rows]))
