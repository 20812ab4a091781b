"""What every study has: parts with measurements, claims, tables and figures, and results that are committed.

A study's results are in ``studies/NAME/results``: ``claims.json`` with provenance, claims, values and notes
of each part, and a CSV file for each table. A part that runs again replaces its own results alone. Figures go
to ``docs/images/study-NAME-FIGURE.png`` and know the tables that they were drawn from.
"""

import argparse
import csv
import hashlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from judging import Case, Claim, Found
from matplotlib.figure import Figure
from provenance import commit, disturbed, provenance, run_facts, sentence

import longhaul
from longhaul.run.api import Network, Result

ROOT = Path(__file__).parents[1]
Json = dict[str, Any]
T = TypeVar("T")


class Study:
    """A study in parts; its work is in ``runs/studies/NAME``."""

    def __init__(self, name: str, question: str, *, whole: bool = True, resume: bool = False) -> None:
        """``whole``: at full size, so that its results are published. ``resume``: keep what is measured."""
        self.name = name
        self.question = question
        self.directory = ROOT / "runs" / "studies" / name
        self.runs = self.directory / "runs"
        self.runs.mkdir(parents=True, exist_ok=True)
        self._results = self.directory / "results"
        self._published = ROOT / "studies" / name.replace("-", "_") / "results" if whole else None
        self._journal = _Journal(self.directory / "measured.jsonl", resume=resume)
        self._parts: dict[str, Json] = {}
        self._part: Json | None = None
        self._facts: list[Json] = []
        self.failed = 0
        # What runs is what is checked out now, whatever is edited meanwhile.
        commit()
        print(question, flush=True)

    @contextmanager
    def part(self, name: str, *, how: str) -> Iterator[None]:
        """What belongs to one part; ``how``: ``live``, ``simulated`` or ``arithmetic``."""
        began = time.monotonic()
        self._part = {"how": how, "claims": [], "values": {}, "notes": [], "tables": {}, "figures": {}}
        self._facts = []
        print(f"== {name}", flush=True)
        try:
            yield
        except Exception:  # noqa: BLE001
            # The other parts are worth having.
            self.failed += 1
            traceback.print_exc()
            print(f"== {name} failed", flush=True)
        else:
            command = f"{Path(sys.argv[0]).name} {' '.join(sys.argv[1:])}".strip()
            took_s = time.monotonic() - began
            self._part["provenance"] = provenance(command=command, took_s=took_s, runs=self._facts)
            self._parts[name] = self._part
            self._write(name)
            print(f"== {name}: {took_s:.0f} s", flush=True)
        finally:
            self._part = None

    @property
    def _open(self) -> Json:
        assert self._part is not None, "within study.part(...)"
        return self._part

    def measured(self, key: str, measure: Callable[[], T]) -> T | None:
        """What ``measure`` returns (plain data), or what it returned before an interruption.

        A measurement that fails, or whose network was not faithful, is made a second time. ``None`` if it
        fails both times, which is a note of the part.
        """
        known = self._journal.read(key)
        if known is None:
            known = self._try(key, measure)
        if known is None:
            return None
        self._facts += known["runs"]
        print(f"  {key}: {str(known['value'])[:120]}", flush=True)
        return known["value"]  # type: ignore[no-any-return]

    def _try(self, key: str, measure: Callable[[], T]) -> Json | None:
        found: list[Json] = []
        failure = ""
        for attempt in (1, 2):
            before = len(self._facts)
            try:
                value = measure()
            except Exception as error:  # noqa: BLE001
                print(f"  {key}, attempt {attempt}: {error}", flush=True)
                failure = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            else:
                found.append({"value": value, "runs": self._facts[before:]})
                if not disturbed(found[-1]["runs"]):
                    break
                print(f"  {key}, attempt {attempt}: disturbed", flush=True)
            finally:
                del self._facts[before:]
        if found:
            return self._journal.write(key, min(found, key=lambda each: disturbed(each["runs"])))
        self.failed += 1
        self.note(f"not measured: {key} ({failure})")
        return None

    @contextmanager
    def network(self, scenario: Path, params: Mapping[str, Any] | None = None) -> Iterator[Network]:
        """A live network that counts as a run of this part; no other of the machine has its name."""
        name = f"{self.name}-{os.getpid()}"
        with longhaul.up(scenario, name=name, params=params, runs=self.runs) as network:
            yield network
        self.ran(network)

    def ran(self, run: Result | Network, *, mode: str = "live") -> None:
        """Count a run of this part, whose network and hosts its provenance tells of."""
        result = run.result if isinstance(run, Network) else run
        if result is not None:
            self._facts.append(run_facts(result.summary, mode=mode))

    def note(self, text: str) -> None:
        """A condition that a reader needs."""
        print(f"  {text}", flush=True)
        self._open["notes"].append(text)

    def value(self, name: str, found: Found, unit: str = "", *, percent: bool = False) -> None:
        """A number that documents quote."""
        text = found.shown(unit, percent=percent)
        print(f"  {name} = {text}", flush=True)
        half = None if found.half_width == float("inf") else found.half_width
        self._open["values"][name] = {
            "shown": text,
            "value": found.value,
            "half_width": half,
            "n": found.runs,
        }

    def claim(
        self, text: str, *, place: str, rule: str, cases: Case | Iterable[Case], over: str = ""
    ) -> Claim:
        """Something that the paper says, judged."""
        made = Claim(place, text, rule, (cases,) if isinstance(cases, Case) else tuple(cases), over)
        print(f"  {made.verdict.upper()}: {text} ({made.found()})", flush=True)
        self._open["claims"].append(made.as_data())
        return made

    def table(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """``NAME.csv``."""
        self._open["tables"][name] = [dict(row) for row in rows]

    def figure(self, made: Figure, name: str, *, data: Iterable[str]) -> None:
        """A picture, and the tables that have its points."""
        made.patch.set_alpha(1)
        self._open["figures"][name] = (made, list(data))

    def _write(self, name: str) -> None:
        for place in (self._results, self._published):
            if place is not None:
                pictures = self._results if place == self._results else ROOT / "docs" / "images"
                write_part(place, pictures, self.name, self.question, name, self._parts[name])
        if self._published:
            import documents

            documents.write()

    def finish(self) -> None:
        """Say where the results are; the exit code is 1 if something could not be measured."""
        if self._published:
            print(
                f"results: {self._published.relative_to(ROOT)}, docs/images and docs are written; commit them"
            )
        else:
            print(f"results: {self._results}; not published, since this was not the study's full size")
        sys.exit(1 if self.failed else 0)


@dataclass(frozen=True)
class Part:
    """One part of a study, which can run alone."""

    how: str
    """``live``, ``simulated`` or ``arithmetic``."""
    run: Callable[[Study, argparse.Namespace], None]
    rounds: int = 1
    """How often it measures; 1 for what is deterministic."""


def run_study(
    name: str,
    question: str,
    about: str | None,
    parts: Mapping[str, Part],
    *,
    options: Mapping[str, tuple[Any, str]] | None = None,
) -> None:
    """Run the parts that the command line names, publish their results, and exit.

    ``options``: more of the command line, with default and help. A study with other rounds or options than
    the defaults has not its full size, and publishes nothing.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = sorted({*parts, *(part.how for part in parts.values())})
    parser.add_argument(
        "--only", action="append", choices=kinds, help="a part, or all live or simulated ones"
    )
    parser.add_argument("--rounds", type=int, help="of what is repeated, instead of each part's own")
    parser.add_argument("--resume", action="store_true", help="keep what this commit has measured")
    for option, (default, what) in (options or {}).items():
        parser.add_argument(f"--{option}", type=type(default), default=default, help=what)
    given = parser.parse_args()
    # Whoever ends the study ends its networks, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rounds = given.rounds
    usual = all(getattr(given, option) == default for option, (default, _what) in (options or {}).items())
    study = Study(name, question, whole=usual and rounds is None, resume=given.resume)
    try:
        for each, part in parts.items():
            if not given.only or {each, part.how} & set(given.only):
                given.rounds = rounds if rounds and part.rounds > 1 else part.rounds
                with study.part(each, how=part.how):
                    part.run(study, given)
    except KeyboardInterrupt:
        print("interrupted; with --resume the study keeps what this commit has measured", file=sys.stderr)
        sys.exit(130)
    study.finish()


def write_part(place: Path, pictures: Path, study: str, question: str, name: str, part: Json) -> None:
    """Replace a part's results among those of the others."""
    place.mkdir(parents=True, exist_ok=True)
    tables, figures = part["tables"], part["figures"]
    head = f"# longhaul study {study}, part {name}, {part['how']}: {sentence(part['provenance'])}"
    for table, rows in tables.items():
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with (place / f"{table}.csv").open("w", newline="", encoding="utf-8") as out:
            out.write(f"{head}\n")
            writer = csv.DictWriter(out, fieldnames=columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    for figure, (made, data) in figures.items():
        sources = ", ".join(f"{each}.csv {digest(place / f'{each}.csv')}" for each in data)
        about = {"Title": f"study {study}, part {name}", "Source": sources, "Software": "longhaul"}
        made.savefig(pictures / f"study-{study}-{figure}.png", dpi=140, metadata=about)
    path = place / "claims.json"
    whole = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"parts": {}}
    data = {**part, "tables": list(tables), "figures": {key: found[1] for key, found in figures.items()}}
    parts = {**whole["parts"], name: data}
    text = json.dumps({"study": study, "question": question, "parts": parts}, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def digest(path: Path) -> str:
    """The beginning of a file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


class _Journal:
    """Measurements that an interrupted study need not repeat."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        self._path = path
        self._known: dict[str, Json] = {}
        if resume and path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                # What another state of the sources measured is another measurement.
                if entry["commit"] == commit():
                    self._known[entry["key"]] = entry
        else:
            path.write_text("", encoding="utf-8")

    def read(self, key: str) -> Json | None:
        return self._known.get(key)

    def write(self, key: str, entry: Json) -> Json:
        with self._path.open("a", encoding="utf-8") as out:
            out.write(f"{json.dumps({'key': key, 'commit': commit(), **entry})}\n")
        return json.loads(json.dumps(entry))  # type: ignore[no-any-return]
