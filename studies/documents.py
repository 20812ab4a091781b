"""Documents whose numbers come from committed data: pages of studies, and marked places in README and docs.

``<!-- data: TEMPLATE.j2 -->...<!-- /data -->`` holds what a template makes of the data, and with an
expression in place of the template its value. ``python studies/documents.py`` writes them anew; with
``--check`` it says which are not up to date. Templates and expressions know ``bench`` (``bench/*.json``),
``study(NAME)``, ``total_verdicts()``, ``toml(PATH)``, ``rows(PATH)`` of a CSV file, ``command_line()``,
``python_api()`` and ``codes()``.
"""

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from jinja2 import Environment, StrictUndefined
from reference import codes, command_line, python_api

from longhaul.studies import (
    EvaluatedClaim,
    PaperFigure,
    PaperValue,
    StudyFolder,
    fitting_reasons,
    read_reasons,
    read_table,
)
from longhaul.studies.catalogue import studies_in
from longhaul.studies.provenance import sentence
from longhaul.units.text import time_text

ROOT = Path(__file__).parents[1]
MARKED = re.compile(r"(<!-- data: (.+?) -->)(.*?)(<!-- /data -->)", re.DOTALL)
Json = dict[str, Any]


class Results:
    """What a study asks and found, as its page shows it."""

    def __init__(self, name: str) -> None:
        """``name``: of its folder under ``studies``."""
        self.name = name
        self._study = StudyFolder(ROOT / "studies" / name)

    @property
    def parts(self) -> list[str]:
        """The parts that have results."""
        return list(self._study.measured_parts)

    def has(self, part: str) -> bool:
        """Whether there are results of a part."""
        return part in self._study.measured_parts

    def value(self, part: str, name: str) -> str:
        """A number that the study found, with its interval."""
        return str(self._study.measured_parts[part]["values"][name]["shown"])

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a CSV file."""
        return read_table(self._study.results / f"{name}.csv")

    def numbers(self, name: str, column: str, **equal: str) -> list[float]:
        """A column of a CSV file, in the rows whose other columns have these values."""
        rows = [row for row in self.table(name) if all(row[key] == value for key, value in equal.items())]
        return [float(row[column]) for row in rows]

    def figure(self, part: str, name: str, alternative: str, caption: str = "") -> str:
        """A picture with its caption; nothing if the part has no results."""
        if not self.has(part):
            return ""
        assert name in self._study.measured_parts[part]["figures"], f"{self.name}: {part}: no figure {name}"
        picture = f"![{alternative}](../images/study-{self._study.name}-{name}.png)"
        return f"{picture}\n\n<sub>{caption}</sub>" if caption else picture

    def paper_figures(self) -> str:
        """A table of the paper's figures: the values that its text states, and ours."""
        rows = ["| the paper's | shows | values that its text states | ours |", "|---|---|---|---|"]
        rows += [self._paper_row(each) for each in self._study.paper.figures]
        return "\n".join(rows)

    def _paper_row(self, figure: PaperFigure) -> str:
        drawn = {name for part in self._study.measured_parts.values() for name in part["figures"]}
        ours = ", ".join(f"`{each}`" if each in drawn else f"`{each}`: not measured" for each in figure.ours)
        stated = "; ".join(_stated(name, list(values)) for name, values in _by_series(figure.values))
        name = figure.name if " " in figure.name else f"figure {figure.name}"
        cells = (name, figure.shows, f"{stated} ({figure.place})" if figure.place and stated else stated)
        if not stated:
            cells = (name, figure.shows, "" if figure.without else figure.place or "none")
        return f"| {' | '.join(map(_prose, cells))} | {ours or f'no: {_prose(figure.without)}'} |"

    def provenance(self, part: str) -> str:
        """Commit, date, machine, and how well live runs did."""
        how = self._study.claims.parts[part].how.capitalize()
        return _prose(f"{how}; {sentence(self._study.measured_parts[part]['provenance'])}.")

    def notes(self, part: str) -> list[str]:
        """What the study said beside its claims."""
        return [_prose(each) for each in self._study.measured_parts[part]["notes"]]

    def claims(self, *parts: str) -> str:
        """A table of claims for each part, with its provenance, or with the command that measures it."""
        pieces = []
        for part in parts:
            rows = ["| claim | evaluated by | found | verdict |", "|---|---|---|---|"]
            rows += [self._row(each) for each in self._study.evaluated(part)]
            origin = self.provenance(part) if self.has(part) else f"`{self._study.command(part)}`"
            pieces.append("\n".join([*rows, "", f"<sub>{origin}</sub>"]))
        return "\n\n".join(pieces)

    @staticmethod
    def _row(evaluated: EvaluatedClaim) -> str:
        claim = evaluated.claim
        more = "".join(
            f"<br>{name}: {'; '.join(every)}"
            for name, every in (("The paper", claim.paper), ("Assumed", claim.assumes))
            if every
        )
        cells = (
            f"{claim.text} ({claim.place}){more}",
            claim.rule,
            evaluated.found() or "-",
            f"**{evaluated.verdict}**",
        )
        return f"| {' | '.join(map(_prose, cells))} |"

    def all_claims(self) -> list[dict[str, str]]:
        """Text, place and verdict of each claim, as cells of a table."""
        return [
            {
                "text": _prose(each.claim.text),
                "place": _prose(each.claim.place),
                "verdict": _prose(each.verdict),
            }
            for each in self._study.evaluated()
        ]

    def verdicts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        return {str(word): count for word, count in self._study.counts().items()}


def _by_series(values: Iterable[PaperValue]) -> Iterator[tuple[str, Iterator[PaperValue]]]:
    return groupby(values, key=lambda each: each.series)


def _stated(series: str, values: list[PaperValue]) -> str:
    """``IS: 50.3 s at 4x1, 30 s at 100 µs``."""
    return f"{series}: {', '.join(value.shown() for value in values)}"


def _prose(text: str) -> str:
    """ASCII as documents have it: micro signs, a space before per cent, and nothing that ends a cell."""
    return re.sub(r"(?<=\d)%", " %", re.sub(r"\bus\b", "µs", text)).replace("|", "/")


class Figures(dict[str, Any]):
    """The figures of a benchmark by what they are of."""

    def pick(self, *patterns: str) -> list[float]:
        """Those whose names match one of the patterns of file names."""
        found = [value for name, value in self.items() if any(fnmatchcase(name, each) for each in patterns)]
        assert found, patterns
        return found


class Bench:
    """``bench/NAME.json``: ``bench.sim["line rate, 1 flow, 1,000 s"]``."""

    def __getattr__(self, name: str) -> Figures:
        """A benchmark's figures."""
        found = Figures()
        parts = json.loads((ROOT / "bench" / f"{name}.json").read_text(encoding="utf-8"))["figures"]
        for part in parts.values():
            for row in part["rows"]:
                assert row["what"] not in found, f"bench/{name}.json has two figures {row['what']!r}"
                found[row["what"]] = row["value"]
        return found

    def parts(self, name: str) -> list[Json]:
        """Every part of a benchmark as text: its name, its origin, and a row for each figure."""
        parts = json.loads((ROOT / "bench" / f"{name}.json").read_text(encoding="utf-8"))["figures"]
        return [
            {
                "name": part.replace("-", " "),
                "origin": _origin([content["provenance"]]),
                "rows": [_row(row) for row in content["rows"]],
            }
            for part, content in parts.items()
        ]

    def missed(self) -> list[Json]:
        """The figures that miss their targets, under the first reason of ``bench/reasons.toml`` that fits.

        Figures without a reason are under an empty one; reasons that no figure has are left out.
        """
        reasons = read_reasons(ROOT / "bench/reasons.toml")
        found: dict[str, list[dict[str, str]]] = {each["why"].strip(): [] for each in reasons} | {"": []}
        for name, row in self._missed():
            why = next(iter(fitting_reasons(reasons, name, key="figures")), {"why": ""})["why"].strip()
            found[why].append({**_row(row), "target": _prose(str(row["target"]))})
        return [{"why": why, "rows": rows} for why, rows in found.items() if rows]

    def _missed(self) -> Iterator[tuple[str, Json]]:
        for path in sorted((ROOT / "bench").glob("*.json")):
            for part in json.loads(path.read_text(encoding="utf-8"))["figures"].values():
                yield from ((f"{path.stem}: {row['what']}", row) for row in part["rows"] if not row["met"])

    def origin(self, name: str, *parts: str) -> str:
        """When and where these parts of a benchmark were measured, or all."""
        figures = json.loads((ROOT / "bench" / f"{name}.json").read_text(encoding="utf-8"))["figures"]
        return _origin([part["provenance"] for key, part in figures.items() if not parts or key in parts])


def _origin(found: list[Json]) -> str:
    """Commits with their dates, each followed by the machine on which it was measured."""
    machines: dict[str, dict[str, None]] = {}
    for each in found:
        when = f"commit {each['commit'][:7]}, {each['date'][:10]}"
        machines.setdefault(each["machine"], {})[when] = None
    return "; ".join(f"{'; '.join(when)}; {machine}" for machine, when in machines.items())


def _row(row: Json) -> dict[str, str]:
    """A figure of a benchmark as the cells of a table."""
    target = _prose(str(row["target"] or ""))
    shown = f"{row['value']:,}" if isinstance(row["value"], int) else significant(row["value"], 3)
    return {
        "what": _prose(row["what"]),
        "value": _prose(f"{shown} {row['unit']}".strip()),
        "target": target if row["met"] else f"{target}, **missed**",
    }


def total_verdicts() -> Counter[str]:
    """How many claims of all studies have each verdict."""
    found: Counter[str] = Counter()
    for each in studies_in(ROOT / "studies"):
        found.update({str(word): count for word, count in each.counts().items()})
    return found


def span(values: Iterable[float], form: str, scale: float = 1) -> str:
    """The least and the largest value, multiplied by ``scale``, as text."""
    every = [value * scale for value in values]
    low, high = form % min(every), form % max(every)
    return low if low == high else f"{low} to {high}"


def _environment() -> Environment:
    made = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    made.globals["bench"] = Bench()
    made.globals["study"] = Results
    made.globals["total_verdicts"] = total_verdicts
    made.globals["toml"] = lambda path: tomllib.loads((ROOT / path).read_text("utf-8"))
    made.globals["rows"] = lambda path: read_table(ROOT / path)
    made.globals.update({"span": span, "abs": abs})
    made.globals.update({"codes": codes, "command_line": command_line, "python_api": python_api})
    made.filters["sig"] = significant
    made.filters["time"] = lambda ns: time_text(float(ns)) if float(ns) else "0 ns"
    return made


def significant(value: float, digits: int = 2) -> str:
    """A number with so many significant digits: 0.66, 23, 380,000."""
    from math import floor, log10

    places = digits - 1 - floor(log10(abs(value))) if value else 0
    return f"{round(value, places):,.{max(places, 0)}f}"


def render(text: str) -> str:
    """A document with everything that is marked in it as the data have it."""

    def replaced(found: "re.Match[str]") -> str:
        begin, what, _old, end = found.groups()
        if what.endswith(".j2"):
            return f"{begin}\n{page(ROOT / what)}\n{end}"
        return f"{begin}{_environment().from_string('{{ ' + what + ' }}').render()}{end}"

    return MARKED.sub(replaced, text)


def page(template: Path) -> str:
    """What a template makes."""
    return _environment().from_string(template.read_text(encoding="utf-8")).render().strip()


def marked() -> Iterator[Path]:
    """Every document that has a marked place."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if MARKED.search(path.read_text(encoding="utf-8")):
            yield path


def stale() -> list[Path]:
    """Documents whose marked places are not what the data say."""
    return [path for path in marked() if render(path.read_text(encoding="utf-8")) != path.read_text("utf-8")]


def write() -> list[Path]:
    """Write those anew; returns them."""
    found = stale()
    for path in found:
        path.write_text(render(path.read_text(encoding="utf-8")), encoding="utf-8")
    return found


if __name__ == "__main__":
    if "--check" in sys.argv:
        old = stale()
        print("\n".join(f"{path.relative_to(ROOT)}: not up to date; make docs" for path in old))
        sys.exit(1 if old else 0)
    for path in write():
        print(path.relative_to(ROOT))
