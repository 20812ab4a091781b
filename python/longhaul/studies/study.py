"""A study that runs: parts with measurements, evaluated claims, tables and figures; and what it writes.

Results are in ``results`` in the study's folder. A part that runs again replaces its own results alone. What
the runs write is in ``runs/studies/NAME`` beside the directory of studies.
"""

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import longhaul
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import ending
from longhaul.results.directory import read_run
from longhaul.studies.catalogue import StudyFolder
from longhaul.studies.claims import CLAIMS, Numbers
from longhaul.studies.evaluation import Case, EvaluatedClaim, Measurement
from longhaul.studies.figures import Draw, Figures
from longhaul.studies.headlines import headline
from longhaul.studies.journal import Journal
from longhaul.studies.paper import PAPER
from longhaul.studies.provenance import commit, disturbed, provenance, run_facts
from longhaul.studies.results_files import Json, read_table, write_part
from longhaul.subprocesses import python_script_command
from longhaul.units.text import duration_text

if TYPE_CHECKING:
    from longhaul.report.mpl import Figure
    from longhaul.run.api import Network, Result

T = TypeVar("T")


class Study:
    """A study that runs, part after part."""

    def __init__(
        self,
        folder: Path,
        *,
        whole: bool = True,
        small: bool = False,
        resume: bool = False,
        parts: Sequence[str] | None = None,
    ) -> None:
        """Read the claims of ``folder``. Raises LonghaulError if they are wrong.

        ``whole``: at full size, so that its results are published. ``small``: at a size to try it out,
        which is never published. ``resume``: keep what is measured. ``parts``: those that will run; all if
        left out.
        """
        self.definition: StudyFolder = StudyFolder(folder.resolve())
        """Its folder: claims, and published results."""
        self.name: str = self.definition.name
        claims = self.definition.claims
        self._plan = list(claims.parts if parts is None else parts)
        self.directory: Path = self.definition.folder.parents[1] / "runs" / "studies" / self.name
        """Where it works."""
        self.runs: Path = self.directory / "runs"
        """For the runs that it makes."""
        self.runs.mkdir(parents=True, exist_ok=True)
        self.is_small: bool = small
        self.is_whole: bool = whole and not small
        """Whether it has its full size, so that its results are published."""
        self.failed: int = 0
        """How many parts and measurements failed."""
        # What runs is what is checked out now, whatever is edited meanwhile.
        self._commit = commit(self.definition.folder)
        self._journal = Journal(self.directory / "measured.jsonl", commit=self._commit, resume=resume)
        self._name = ""
        self._part: Json | None = None
        self._evaluated: dict[str, EvaluatedClaim] = {}
        self._facts: list[Json] = []
        self._measures = False
        self._analysis_began: float | None = None
        self._before_s = 0.0
        _say(claims.question)

    @property
    def results(self) -> Path:
        """Where this run writes its results, published or not."""
        return self.directory / "results"

    def size(self, full: T, *, small: T) -> T:
        """A size of the study: ``full``, or ``small`` where it is only tried out."""
        return small if self.is_small else full

    @contextmanager
    def part(self, name: str, *, rounds: int | None = None) -> Iterator[None]:
        """What belongs to one part. It is written if it evaluates all its claims; other parts run anyway.

        ``rounds``: how often it measures, for its provenance.
        """
        began = time.monotonic()
        self._name = name
        self._part = {"values": {}, "notes": [], "tables": {}, "figures": {}}
        self._evaluated = {}
        self._facts = []
        self._measures = False
        self._analysis_began = None
        self._before_s = 0.0
        _say(self._headline(name))
        try:
            yield
            self._check_all_evaluated(name)
        except LonghaulError as error:
            self.failed += 1
            print(error.headline, file=sys.stderr, flush=True)
            _say(f"== {name} failed")
        except Exception:  # noqa: BLE001
            # The other parts are worth having.
            self.failed += 1
            traceback.print_exc()
            _say(f"== {name} failed")
        else:
            ended = time.monotonic()
            took_s = self._before_s + ended - began
            self._write(
                name, took_s=took_s, analysis_s=ended - (self._analysis_began or ended), rounds=rounds
            )
            _say(f"== {name}: {duration_text(took_s)}")
        finally:
            self._part = None

    def _headline(self, name: str) -> str:
        how = self.definition.claims.parts[name].how
        if name not in self._plan:
            return f"== part {name} ({how})"
        number = self._plan.index(name)
        lasting_s = [self.definition.part_took_s(each) for each in self._plan[number:]]
        return headline(number + 1, len(self._plan), name, how, lasting_s)

    def _check_all_evaluated(self, name: str) -> None:
        left = [claim.id for claim in self.definition.claims.of(name) if claim.id not in self._evaluated]
        if left:
            raise LonghaulError(
                Code.CLAIM_NOT_EVALUATED,
                f"part {name} ended without evaluating {', '.join(left)}",
                remedy=f"evaluate them there, or remove them from {self.definition.folder / CLAIMS}",
            )

    @property
    def _open(self) -> Json:
        assert self._part is not None, "within study.part(...)"
        return self._part

    def measured(self, key: str, measure: Callable[[], T]) -> T | None:
        """What ``measure`` returns (plain data), or what it returned before an interruption.

        A measurement that fails, or whose network was not faithful, is made a second time. ``None`` if it
        fails both times, which is a note of the part.
        """
        self._analysis_began = None
        known = self._journal.read(key)
        if known is None:
            known = self._try(key, measure)
        else:
            self._before_s += known.get("took_s", 0.0)
        if known is None:
            return None
        self._facts += known["runs"]
        _say(f"  {key}: {str(known['value'])[:120]}")
        return known["value"]  # type: ignore[no-any-return]

    def _try(self, key: str, measure: Callable[[], T]) -> Json | None:
        found: list[Json] = []
        failure = ""
        began = time.monotonic()
        for attempt in (1, 2):
            before = len(self._facts)
            try:
                value = measure()
            except Exception as error:  # noqa: BLE001
                _say(f"  {key}, attempt {attempt}: {error}")
                failure = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            else:
                found.append({"value": value, "runs": self._facts[before:]})
                if not disturbed(found[-1]["runs"]):
                    break
                _say(f"  {key}, attempt {attempt}: disturbed")
            finally:
                del self._facts[before:]
        if found:
            best = min(found, key=lambda each: disturbed(each["runs"]))
            return self._journal.write(key, {**best, "took_s": round(time.monotonic() - began, 3)})
        self.failed += 1
        self.note(f"not measured: {key} ({failure})")
        return None

    @contextmanager
    def network(self, scenario: Path, params: Mapping[str, Any] | None = None) -> "Iterator[Network]":
        """A live network that counts as a run of this part; no other of the machine has its name."""
        name = f"{self.name}-{os.getpid()}"
        with longhaul.up(scenario, name=name, params=params, runs=self.runs) as network:
            yield network
        self.ran(network)

    def ran(self, run: "Result | Network", *, mode: str = "live") -> None:
        """Count a run of this part, whose network and hosts its provenance describes.

        Raises KeyboardInterrupt if a user interrupted the run, which keeps its results: the study ends, too.
        """
        self._analysis_began = None
        result: Any = getattr(run, "result", run)
        if result is not None:
            if result.summary.get("ended") == ending.INTERRUPTED:
                raise KeyboardInterrupt
            self._facts.append(run_facts(result.summary, mode=mode, seed=_seed(result)))

    def note(self, text: str) -> None:
        """A condition that a reader needs."""
        _say(f"  {text}")
        self._open["notes"].append(text)

    def value(self, name: str, found: Measurement, unit: str = "", *, percent: bool = False) -> None:
        """A number that documents quote."""
        text = found.shown(unit, percent=percent)
        self._analyse()
        _say(f"  {name} = {text}")
        half = None if found.half_width == float("inf") else found.half_width
        self._open["values"][name] = {
            "shown": text,
            "value": found.value,
            "half_width": half,
            "n": found.runs,
        }

    def numbers(self, claim: str) -> Numbers:
        """The numbers of a claim. Raises LonghaulError for an id that ``claims.yaml`` does not have."""
        return self.definition.claims.numbers(claim)

    def evaluate(self, claim: str, cases: Case | Iterable[Case]) -> EvaluatedClaim:
        """The verdict on a claim of this part, from what was found under each condition.

        Raises LonghaulError for an id that this part does not have, and for one that is evaluated already.
        """
        assert self._part is not None, "within study.part(...)"
        known = self.definition.claims.claim(claim, part=self._name)
        if claim in self._evaluated:
            raise LonghaulError(
                Code.CLAIM_EVALUATED_TWICE,
                f"part {self._name} evaluates {claim} twice",
                remedy="evaluate it once, with all its conditions",
            )
        self._analyse()
        made = EvaluatedClaim(known, (cases,) if isinstance(cases, Case) else tuple(cases))
        self._evaluated[claim] = made
        _say(f"  {made.verdict.upper()}: {made.claim.text} ({made.found()})")
        return made

    def rows(self, table: str) -> list[dict[str, str]]:
        """The rows of a table that another part wrote: of this run if it is not published, else published.

        None without such a table.
        """
        mine = self.results / f"{table}.csv"
        path = self.definition.results / mine.name if self.is_whole or not mine.is_file() else mine
        return read_table(path) if path.is_file() else []

    def table(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """``NAME.csv``."""
        self._analyse()
        self._open["tables"][name] = [dict(row) for row in rows]

    def figure(self, made: "Figure", name: str, *, data: Iterable[str]) -> None:
        """A picture, and the tables that have its points."""
        self._analyse()
        made.patch.set_alpha(1)
        self._open["figures"][name] = (made, list(data))

    def draw(self, draw: Draw) -> None:
        """Draw the figures of this part from the tables that it has so far."""
        figures = Figures(self.definition, self._open["tables"])
        draw(figures)
        self._open["figures"] |= figures.drawn

    def _analyse(self) -> None:
        """The time from here on is that of analysis, until something is measured again."""
        if self._analysis_began is None:
            self._analysis_began = time.monotonic()

    def _write(self, name: str, *, took_s: float, analysis_s: float, rounds: int | None) -> None:
        command = f"{Path(sys.argv[0]).name} {' '.join(sys.argv[1:])}".strip()
        order = [claim.id for claim in self.definition.claims.of(name)]
        part = {
            "claims": [self._evaluated[each].as_result() for each in order],
            **self._open,
            "provenance": provenance(
                self.definition.folder,
                command=command,
                took_s=took_s,
                runs=self._facts,
                analysis_s=analysis_s,
                rounds=rounds,
            ),
        }
        how = self.definition.claims.parts[name].how
        paper = self.definition.folder / PAPER
        write_part(self.results, self.results, self.name, name, how, part, paper=paper)
        if self.is_whole:
            write_part(
                self.definition.results, self.definition.figures, self.name, name, how, part, paper=paper
            )
            if self.definition.pages:
                subprocess.run(python_script_command(str(self.definition.pages)), check=True)

    def finish(self) -> NoReturn:
        """Say where the results are, and exit with 1 if something could not be measured, else with 0."""
        if self.is_whole:
            _say(f"results: {self.definition.results}")
        else:
            _say(f"results: {self.results}; not published, since this was not the study's full size")
        sys.exit(1 if self.failed else 0)


def _seed(result: Any) -> int | None:
    """Of a run; a relay has none."""
    directory = getattr(result, "directory", None)
    if directory is None or not (directory / "run.json").is_file():
        return None
    seed = read_run(directory).get("seed")
    return None if seed is None else int(seed)


def _say(text: str) -> None:
    print(text, flush=True)
