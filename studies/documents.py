"""Documents whose numbers come from committed data: pages of studies, and marked places in README and docs.

``<!-- data: TEMPLATE.j2 -->...<!-- /data -->`` holds what a template makes of the data, and with an
expression in place of the template its value. ``python studies/documents.py`` writes them anew; with
``--check`` it says which are not up to date. Templates and expressions know ``bench`` (``bench/*.json``),
``study(NAME)``, ``toml(PATH)``, ``command_line()``, ``python_api()`` and ``codes()``.
"""

import csv
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from jinja2 import Environment, StrictUndefined
from judging import claim_of
from provenance import sentence
from reference import codes, command_line, python_api

from longhaul.results.studies import Study

ROOT = Path(__file__).parents[1]
MARKED = re.compile(r"(<!-- data: (.+?) -->)(.*?)(<!-- /data -->)", re.DOTALL)
Json = dict[str, Any]


class Results:
    """What a study found, as its page shows it."""

    def __init__(self, name: str) -> None:
        """``name``: of its folder under ``studies``."""
        self.name = name
        self._folder = ROOT / "studies" / name / "results"
        path = self._folder / "claims.json"
        self._whole: Json = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"parts": {}}

    @property
    def parts(self) -> list[str]:
        """The parts that have results."""
        return list(self._whole["parts"])

    def has(self, part: str) -> bool:
        """Whether there are results of a part."""
        return part in self._whole["parts"]

    def value(self, part: str, name: str) -> str:
        """A number that the study found, with its interval."""
        return str(self._whole["parts"][part]["values"][name]["shown"])

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a CSV file."""
        return read_table(self._folder / f"{name}.csv")

    def figure(self, part: str, name: str, alternative: str) -> str:
        """A picture; nothing if the part has no results."""
        if not self.has(part):
            return ""
        assert name in self._whole["parts"][part]["figures"], f"{self.name}: {part} has no figure {name}"
        study = self._whole["study"]
        return f"![{alternative}](../images/study-{study}-{name}.png)"

    def provenance(self, part: str) -> str:
        """Commit, date, machine, and how well live runs did."""
        found = self._whole["parts"][part]
        return _prose(f"{found['how'].capitalize()}; {sentence(found['provenance'])}.")

    def notes(self, part: str) -> list[str]:
        """What the study said beside its claims."""
        return [_prose(each) for each in self._whole["parts"][part]["notes"]]

    def claims(self, *parts: str) -> str:
        """A table of claims for each part, with its provenance; or that there are no results yet."""
        pieces = []
        for part in parts:
            if not self.has(part):
                pieces.append(f"*Part `{part}` has no committed results yet.*")
                continue
            rows = ["| claim | judged by | found | verdict |", "|---|---|---|---|"]
            for data in self._whole["parts"][part]["claims"]:
                claim = claim_of(data)
                cells = (f"{claim.text} ({claim.place})", claim.rule, claim.found(), f"**{claim.verdict}**")
                rows.append(f"| {' | '.join(map(_prose, cells))} |")
            pieces.append("\n".join([*rows, "", f"<sub>{self.provenance(part)}</sub>"]))
        return "\n\n".join(pieces)

    def all_claims(self) -> list[dict[str, str]]:
        """Text, place and verdict of each claim, as cells of a table."""
        return [
            {key: _prose(str(claim[key])) for key in ("text", "place", "verdict")}
            for claim in Study(ROOT / "studies" / self.name).claims()
        ]

    def verdicts(self) -> dict[str, int]:
        """How many claims came out how."""
        return {str(word): count for word, count in Study(ROOT / "studies" / self.name).counts().items()}


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
        reasons: list[Json] = tomllib.loads((ROOT / "bench/reasons.toml").read_text("utf-8"))["reason"]
        found: dict[str, list[dict[str, str]]] = {each["why"].strip(): [] for each in reasons} | {"": []}
        for name, row in self._missed():
            fits = (each for each in reasons for form in each["figures"] if fnmatchcase(name, form))
            why = next(fits, {"why": ""})["why"].strip()
            found[why].append({**_row(row), "target": _prose(str(row["target"]))})
        return [{"why": why, "rows": rows} for why, rows in found.items() if rows]

    def _missed(self) -> Iterator[tuple[str, Json]]:
        for path in sorted((ROOT / "bench").glob("*.json")):
            for part in json.loads(path.read_text(encoding="utf-8"))["figures"].values():
                yield from ((f"{path.stem}: {row['what']}", row) for row in part["rows"] if not row["met"])

    def origin(self, name: str) -> str:
        """When and where the parts of a benchmark were measured."""
        parts = json.loads((ROOT / "bench" / f"{name}.json").read_text(encoding="utf-8"))["figures"]
        return _origin([part["provenance"] for part in parts.values()])


def _origin(found: list[Json]) -> str:
    when = dict.fromkeys(f"commit {each['commit'][:7]}, {each['date'][:10]}" for each in found)
    return f"{'; '.join(when)}; {found[-1]['machine']}"


def _row(row: Json) -> dict[str, str]:
    """A figure of a benchmark as the cells of a table."""
    target = _prose(str(row["target"] or ""))
    shown = f"{row['value']:,}" if isinstance(row["value"], int) else significant(row["value"], 3)
    return {
        "what": _prose(row["what"]),
        "value": _prose(f"{shown} {row['unit']}".strip()),
        "target": target if row["met"] else f"{target}, **missed**",
    }


def span(values: Iterable[float], form: str) -> str:
    """The least and the largest value as text."""
    every = list(values)
    low, high = form % min(every), form % max(every)
    return low if low == high else f"{low} to {high}"


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a results file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def _environment() -> Environment:
    made = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    made.globals["bench"] = Bench()
    made.globals["study"] = Results
    made.globals["toml"] = lambda path: tomllib.loads((ROOT / path).read_text("utf-8"))
    made.globals.update({"span": span, "abs": abs})
    made.globals.update({"codes": codes, "command_line": command_line, "python_api": python_api})
    made.filters["sig"] = significant
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
