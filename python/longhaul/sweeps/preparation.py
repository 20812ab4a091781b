"""A sweep that is ready to run: checked, counted, divided into shards."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import count, islice
from pathlib import Path

from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.run.sim import real_programs, simulated_plan
from longhaul.scenario.check.names import metrics_of, unknown_sweep_metrics
from longhaul.scenario.expand.axes import Axis, axes_of, column_of, numbers_of
from longhaul.scenario.expand.places import readdressed
from longhaul.scenario.lower.randomness import is_random
from longhaul.scenario.lower.resolve import Resolved
from longhaul.scenario.model import Document
from longhaul.scenario.model.metrics import Unit
from longhaul.scenario.model.sweep import Sweep
from longhaul.scenario.sweeps.design import Design, spread
from longhaul.scenario.sweeps.options import Options, load_sweep
from longhaul.scenario.sweeps.variants import base_of, check_values
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.sweeps.job import Job, Piece, Shard
from longhaul.sweeps.trials import LiveTrials, plan_trial

SHARD_S = 2.0
"""How long a shard should take on one core: what is lost at most when a worker or client is killed."""
MOST_POINTS = 1000
"""Runs of a shard at most, however short."""
MOST_SPREAD = 20_000
"""Shards that are held in memory at once."""
LEAST_SHARDS = 16
"""Into which a sweep is cut, if it has so many runs: or some cores would have nothing to do."""


@dataclass(frozen=True)
class Prepared:
    """What a sweep is, apart from where it is kept and what runs it."""

    name: str
    content: bytes
    options: Options
    sweep: Sweep
    design: Design
    job: Job
    inputs: Mapping[str, bytes]
    left_out: tuple[str, ...]
    """Real programs, which no simulation runs."""
    is_random: bool = True
    """Whether repetitions can differ in any of the variants that were tried."""

    concerns: tuple[Diagnostic, ...] = ()
    """Warnings of live runs, each once."""

    @property
    def warnings(self) -> list[Diagnostic]:
        """What the user should know before the sweep runs."""
        found = list(self.concerns)
        if self.left_out:
            message = f"programs are real, and not part of a simulation: {', '.join(self.left_out)}"
            found.append(Diagnostic(Code.PROGRAMS_LEFT_OUT, message))
        if self.sweep.repeats > 1 and not self.is_random:
            message = (
                "repetitions cannot differ: nothing in the scenario is random, so all seeds of a variant "
                "give one result without an interval"
            )
            remedy = (
                "start traffic at random, for example start: {dist: uniform, low: 0s, high: 1s}, "
                "or leave out repeat"
            )
            found.append(Diagnostic(Code.REPETITIONS_EQUAL, message, remedy))
        return found

    @property
    def points(self) -> int:
        """How many runs it has, without those that a rule to stop by adds."""
        return self.design.variants * self.sweep.repeats

    def shards(
        self, round_: int, added: Mapping[int, tuple[int, int]] | None, *, size: int
    ) -> Iterator[Shard]:
        """The shards of a round, of ``size`` runs each, one at a time.

        In the first round (``added`` is ``None``) every variant has its first repetitions; later, those that
        ``added`` says: ``{variant: (the first of them, how many)}``.
        """
        numbers = count()
        gathered: list[Piece] = []
        room = size
        for piece in self._pieces(added):
            done = 0
            while done < piece.count:
                take = min(room, piece.count - done)
                gathered.append(Piece(piece.variant, piece.values, piece.first + done, take))
                done, room = done + take, room - take
                if not room:
                    yield Shard(round_, next(numbers), tuple(gathered))
                    gathered, room = [], size
        if gathered:
            yield Shard(round_, next(numbers), tuple(gathered))

    def spread_shards(
        self, round_: int, added: Mapping[int, tuple[int, int]] | None, *, size: int
    ) -> Iterator[Shard]:
        """The same shards in an order in which those that come first stand for all of them.

        So the time left and the results so far tell of the whole sweep. More than :data:`MOST_SPREAD` stay as
        they are, one at a time.
        """
        every = list(islice(self.shards(round_, added, size=size), MOST_SPREAD + 1))
        if len(every) > MOST_SPREAD:
            return self.shards(round_, added, size=size)
        return (every[place] for place in spread(len(every)))

    def _pieces(self, added: Mapping[int, tuple[int, int]] | None) -> Iterator[Piece]:
        if added is None:
            for variant, values in self.design:
                yield Piece(variant, values, 0, self.sweep.repeats)
            return
        for variant, (first, more) in sorted(added.items()):
            yield Piece(variant, self.design.values(variant), first, more)

    def shard_size(self, point_s: float) -> int:
        """How many runs a shard should have, if each takes ``point_s`` seconds."""
        if self.job.trials is not None:
            # A live run starts hosts and programs, which takes about as long as a shard.
            return 1
        by_time = round(SHARD_S / max(point_s, 1e-9))
        return max(1, min(by_time, MOST_POINTS, math.ceil(self.points / LEAST_SHARDS)))


def prepare(
    path: Path,
    *,
    settings: Mapping[str, str],
    options: Options,
    inputs: Mapping[str, bytes] | None = None,
    content: bytes | None = None,
    trials: LiveTrials | None = None,
) -> Prepared:
    """Read and check the sweep over the scenario in ``path``, whose ``inputs`` are on disk if left out.

    The scenario itself is ``content`` if that is given, and ``path`` only what it is called. Every value of
    every axis is tried. With ``trials``, runs are live, and not simulations. Raises
    LonghaulError with everything that is wrong.
    """
    asked = load_sweep(path, settings=settings, options=options, contents=inputs, content=content)
    sweep, document = asked.sweep, asked.scenario.document
    axes = axes_of(sweep.axes, grid=sweep.design == "grid")
    names = tuple(axis.name for axis in axes)
    base = base_of(asked.source, asked.root, names, settings=settings, contents=inputs)
    left_out: dict[str, None] = {}
    random: list[bool] = []
    kernels: dict[str, str] = {}
    concerns: dict[Diagnostic, None] = {}
    variants: list[tuple[Document, dict[str, Unit]]] = []

    def check(resolved: Resolved) -> None:
        if trials is not None:
            clock = trials.clock_of(resolved.scenario)
            if clock is not None:
                kernels[trials.version(resolved.scenario)] = clock.kernel.name
            concerns.update(dict.fromkeys(plan_trial(resolved, clock).warnings))
            # On the virtual clock the seed decides the randomness of hosts, too; on the real one no run
            # repeats another.
            random.append(True)
        else:
            left_out.update(dict.fromkeys(real_programs(resolved)))
            plan, _rows = simulated_plan(resolved)
            random.append(is_random(plan, starts=resolved.starts))
        links = (link["name"] for link in resolved.plan["links"])
        variants.append((resolved.scenario.document, metrics_of(resolved.scenario.document, links=links)))

    found = check_values(base, axes, check=check)
    wrong = [
        asked.scenario.problem(Code.METRIC_UNKNOWN, *each)
        for each in unknown_sweep_metrics(sweep, variants, live=trials is not None)
    ]
    if wrong:
        raise readdressed(ScenarioError(wrong))
    job = Job(
        name=asked.source.name,
        content=asked.source.content,
        settings=dict(settings),
        axes=names,
        columns=_columns(axes),
        contents=found if inputs is None else inputs,
        seeds=sweep.seeds,
        metrics=(*sweep.metrics, *([sweep.until.metric] if sweep.until else [])),
        version=version("longhaul"),
        trials=None if trials is None else replace(trials, kernels={**kernels, **trials.kernels}),
    )
    design = Design(axes, sweep.design, sweep.points, document.seed)
    return Prepared(
        document.name,
        job.content,
        options,
        sweep,
        design,
        job,
        job.contents,
        tuple(left_out),
        any(random),
        tuple(concerns),
    )


def _columns(axes: Sequence[Axis]) -> tuple[tuple[str, str], ...]:
    columns = tuple(_column(axis) for axis in axes)
    owners: dict[str, str] = {}
    for axis, (name, _kind) in zip(axes, columns, strict=True):
        other = owners.setdefault(name, axis.name)
        if other != axis.name:
            message = f'the axes "{other}" and "{axis.name}" would have one column, {name}'
            raise LonghaulError(Code.AXIS_INVALID, message, remedy="rename a parameter", exit_code=2)
    return columns


def _column(axis: Axis) -> tuple[str, str]:
    """Name and type of an axis' column: numbers where all values are of one kind, else text."""
    texts = axis.values or (axis.at(0.0), axis.at(0.5), axis.at(1.0))
    if axis.name == "kernel":
        # 6.1 and 6.10 are versions, and not numbers.
        return column_of(axis.name), "string"
    numbers = numbers_of(axis.name, texts)
    if numbers is None:
        return column_of(axis.name), "string"
    whole = all(isinstance(each, int) for each in numbers[1])
    return numbers[0], "int64" if whole else "double"
