"""Responses about sweeps and comparisons."""

from typing import Any

from typing_extensions import TypedDict

from longhaul.page.responses.events import Failure, Warned
from longhaul.page.responses.files import Axis, SweepCell, SweepFile, SweepSummary
from longhaul.page.responses.runs import Annotated, Deleted, RunRow


class SweepRow(TypedDict):
    """A sweep; ``label`` is its title or name. It can be stopped while it runs, if this server started it."""

    id: str
    name: str
    label: str
    annotations: Annotated
    status: str
    started_unix_s: float
    axes: list[Axis]
    variants: int
    repeats: int
    directory: str
    has_report: bool
    can_stop: bool


class RunMetric(TypedDict):
    """A metric of each run: its name in ``metrics``, its title, its unit, and what it is of."""

    name: str
    title: str
    unit: str
    about: str


class Runs(TypedDict):
    """Runs, sweeps and runs in the trash, newest first."""

    runs: list[RunRow]
    sweeps: list[SweepRow]
    metrics: list[RunMetric]
    deleted: list[Deleted]


class SweepProgress(TypedDict):
    """How many runs of a sweep have ended, and how long the rest will take, as text."""

    done: int
    points: int
    left_text: str


class SweepResult(TypedDict):
    """A sweep as far as it is; ``progress`` is that of one that can be stopped.

    ``charts`` are those of ``metric``, for ``web/src/charts``.
    """

    row: SweepRow
    progress: SweepProgress | None
    messages: list[Warned | Failure]
    sweep: SweepFile
    summary: SweepSummary | None
    metrics: list[str]
    rows: list[SweepCell]
    metric: str | None
    charts: list[dict[str, Any]]


class Group(TypedDict):
    """A side of a comparison: runs that repeat each other.

    ``name`` says what tells it from the other sides, ``ids`` are its runs, ``runs`` how many of them count.
    """

    letter: str
    name: str
    ids: list[str]
    runs: int


class Estimate(TypedDict):
    """The mean of a metric over a group, and half the width of its 95 % interval if there is one.

    ``runs`` counts repetitions with equal results once, and ``n`` says so in words.
    """

    mean: float
    half_width: float | None
    runs: int
    repeats: int
    n: str


class Contrast(TypedDict):
    """The difference of a side from the first: its 95 % interval, whether it excludes 0, and both as text."""

    difference: float | None
    half_width: float | None
    differs: bool | None
    text: str


class Metric(TypedDict):
    """A metric of the first side and any other; ``contrasts`` has one for each side but the first.

    ``first`` says that it is among what the report shows first.
    """

    metric: str
    unit: str | None
    first: bool
    estimates: list[Estimate | None]
    contrasts: list[Contrast | None]


class Configured(TypedDict):
    """A property of the configuration that differs, in the order of the sides."""

    subject: str
    what: str
    values: list[str]


class Comparison(TypedDict):
    """Sides beside each other, as the report of a comparison has them.

    ``repeated`` says that some differ in nothing but the seed, so that ``grouped`` would make one side of
    them. ``charts`` are those of ``web/src/charts``.
    """

    groups: list[Group]
    metrics: list[Metric]
    differences: list[Configured]
    cautions: list[str]
    repeated: bool
    charts: list[dict[str, Any]]
