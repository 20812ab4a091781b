"""What a suite of the benchmark is: its scenarios, its subjects, and the measures of its runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longhaul.report.chart import Chart

Json = dict[str, Any]


@dataclass(frozen=True)
class Measure:
    """A measure of a case."""

    name: str
    title: str
    unit: str
    """``share``, ``s``, ``bit/s``, ``ratio``."""
    better: int
    """1: more is better; -1: less is; 0: neither."""
    least: float
    """Differences up to this matter to nobody, whatever their share."""


@dataclass(frozen=True)
class Measured:
    """What one run came to."""

    values: Mapping[str, float | None]
    """``None``: could not be measured, or did not come to pass before the end."""
    camps: Mapping[str, float]
    """Goodput in bit/s of the tested and the standard flows, in suites that have both."""
    series: Mapping[str, list[float]]
    """Columns for the figures, such as rates of flows in Mbit/s over ``t_s``."""
    verdict: str
    """Of a live run: ``faithful``, ``degraded`` or ``invalid``."""
    stopped: float
    """For what share of it the machine kept the engine waiting."""
    digest: str | None = None
    """Of a simulation's results; ``None`` for a live run."""


@dataclass(frozen=True)
class Size:
    """How large a benchmark is."""

    most_bits_per_s: int | None
    """The fastest congested link; ``None`` for that of the suite's specification."""
    every_case: bool
    """All cases of the specification, or one or two of each scenario."""
    stretch: float = 1.0
    """Longer runs than those that suit a live machine."""


@dataclass(frozen=True, kw_only=True)
class SuiteCase(ABC):
    """A case of a scenario, for any subject."""

    scenario: str
    label: str
    """Tells the cases of a scenario apart; empty if there is one."""
    kind: str
    """Decides which measures it has."""
    bits_per_s: int
    """The rate of each congested link."""
    scale: float
    """Its share of that of the suite's specification."""
    from_s: float
    to_s: float
    """What is measured lies between these times."""
    rtt_s: float
    """Of the longest path, without queues."""
    event_s: float = 0.0
    """When something changes."""
    standards: tuple[str, ...] = ()
    """What the subject is tested beside, one after another; empty if it is alone."""
    every_ms: int = 20
    """Between two looks at every link."""

    @property
    def name(self) -> str:
        """``fairness 160 and 40 ms``."""
        return f"{self.scenario} {self.label}".strip()

    @property
    def duration_s(self) -> float:
        """How long a run is."""
        return self.to_s + 0.1

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Congestion-control algorithms that it needs, whichever its subject."""
        return ()

    @property
    @abstractmethod
    def flow_count(self) -> int:
        """How many flows are measured."""

    @abstractmethod
    def document(self, *, subject: str, standard: str | None, seed: int) -> Json:
        """The scenario file of one run."""

    @abstractmethod
    def measure(self, directory: Path, summary: Mapping[str, Any], *, stopped: float) -> Measured:
        """The measures of a run, from its results. Raises LonghaulError if they have none."""

    def slug(self, subject: str, standard: str | None) -> str:
        """A name for files and runs."""
        words = "-".join([self.scenario, *self.label.split(), subject, *([standard] if standard else [])])
        return "".join(each if each.isalnum() or each == "-" else "-" for each in words.lower())


@dataclass(frozen=True)
class Scenario:
    """A scenario and what it asks."""

    name: str
    title: str
    question: str
    section: str
    """Where the suite's specification has it."""
    cases: Callable[[Size], Sequence[SuiteCase]]


@dataclass(frozen=True)
class Score:
    """A line of the scorecard."""

    title: str
    place: str
    """Which scenario it is from; ``{}`` is replaced by the number of scenarios."""
    sources: tuple[tuple[str, str], ...]
    """Scenarios and labels of cases of which it is the mean."""
    measure: str


@dataclass(frozen=True)
class Chapter:
    """A chapter of the report."""

    title: str
    scenarios: tuple[str, ...]
    caption: str
    """Below its last figure."""
    draw: Callable[[Mapping[str, Any]], Sequence[Chart | None]]
    """Its charts; ``None`` for one without data."""
    tables: bool = True
    """Whether its scenarios have their tables here."""


@dataclass(frozen=True)
class Wording:
    """What a suite's report and files call things."""

    subject: str
    """The column of the subject: ``control``, ``queue``."""
    subjects: str
    """Several of them."""
    source: str
    """Below the title of the report."""
    specification: str
    """``the draft``, ``the RFC``."""
    series: str
    """The key of columns for figures in ``results.json``."""
    method: str
    """The method of the report."""


@dataclass(frozen=True)
class Suite:
    """A suite: which subjects it compares, in which scenarios, with which measures."""

    name: str
    """Of its command, and of the directory of its results."""
    words: Wording
    scenarios: tuple[Scenario, ...]
    measures: Mapping[str, Measure]
    """In the order of tables."""
    of_kind: Mapping[str, tuple[str, ...]]
    """Measures of each kind of case."""
    scorecard: tuple[Score, ...]
    chapters: tuple[Chapter, ...]
    check: Callable[[Sequence[str]], None]
    """Raises LonghaulError for a subject that does not exist."""
    needs: Callable[[str], tuple[str, ...]]
    """Congestion-control algorithms that a subject needs."""
    horizon: frozenset[str] = frozenset()
    """Times that end with the run if what they wait for does not come: at least so long, then."""
    paired: frozenset[str] = frozenset()
    """Measures of pairs of runs, with and without the subject."""
    pair: Callable[[Measured, Measured], Mapping[str, float | None]] = field(default=lambda _one, _other: {})

    def cases(self, only: Sequence[str], size: Size) -> tuple[SuiteCase, ...]:
        """The cases of the scenarios ``only``, or of all."""
        return tuple(
            case for each in self.scenarios if not only or each.name in only for case in each.cases(size)
        )
