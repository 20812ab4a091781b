"""Drops of packets as every surface shows them, read back and compared with each other."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

from page.asgi import ask

from longhaul.analysis.drops import CAUSES, ON_LINKS
from longhaul.cli.terminal.run import print_summary
from longhaul.page.application import application
from longhaul.page.run_list import id_of
from longhaul.report.console import Console
from longhaul.report.notebook import run_html

Way = tuple[str, str]


LOSSES = (
    "0%",
    "0.5%",
    "{model: gilbert-elliott, mean: 2%, burst: 3}",
    "{model: periodic, every: 50}",
)
QUEUES = (
    "{limit: 6kB}",
    "{limit: 1bdp}",
    "{kind: red, limit: 60kB, min: 3p, max: 9p}",
    "{kind: codel}",
    "{kind: pie}",
    "{limit: 3p}",
)


def random_scenario(
    random: Random, *, duration: str = "1s", algorithms: Sequence[str] = ("reno", "cubic", "bbr")
) -> str:
    """Two sites and a third, with hosts that send too much, pace, and lose links."""
    link = lambda ends: (  # noqa: E731
        f"{{endpoints: [{ends}], delay: {random.randint(1, 20)}ms, rate: {random.choice((2, 5, 20))}Mbit, "
        f"queue: {random.choice(QUEUES)}, loss: {random.choice(LOSSES)}"
        + (f", duplicate: {random.choice((0, 1))}%" if random.random() < 0.3 else "")
        + (", mtu: 1300" if random.random() < 0.3 else "")
        + "}"
    )
    events = [
        f"{{at: {random.randint(100, 800)}ms, link: {random.choice(('wan', 'far'))}, {change}}}"
        for change in random.sample(
            (
                f"down: {random.randint(50, 300)}ms",
                "set: {loss: 5%}",
                "set: {rate: 1Mbit}",
                "set: {delay: 30ms}",
                "set: {queue: {limit: 3kB}}",
            ),
            random.randint(1, 3),
        )
    ]
    paced = "line_rate: 1Gbit, classes: {all: {rate: 1Mbit, queue: 4p}}, default: all"
    host = (
        f"{{kind: host, attach: r, pacing: {{{paced}}}}}"
        if random.random() < 0.5
        else "{kind: host, attach: r}"
    )
    rate, size = random.choice((1, 8)), random.choice((500, 1400))
    joined = "\n  - ".join(events)
    return f"""\
version: 1
name: drops
duration: {duration}
nodes:
  r: {{kind: router}}
  s: {{kind: router}}
  t: {{kind: router}}
  a1: {{kind: host, attach: r}}
  a2: {host}
  b1: {{kind: host, attach: s}}
  c1: {{kind: host, attach: t}}
links:
  wan: {link("r, s")}
  far: {link("s, t")}
traffic:
  bulk: {{kind: tcp, from: a1, to: c1, cc: {random.choice(algorithms)}, flows: 2}}
  flood: {{kind: udp, from: a2, to: c1, rate: {rate}Mbit, size: {size}B}}
  probe: {{kind: ping, from: b1, to: [a1, c1], every: 20ms}}
events:
  - {joined}
"""


@dataclass
class Table:
    id: str | None
    rows: list[list[str]] = field(default_factory=list)
    attributes: list[Mapping[str, str | None]] = field(default_factory=list)
    """Of each row."""

    def column(self, name: str) -> list[str]:
        place = self.rows[0].index(name)
        return [row[place] for row in self.rows[1:]]


class _Report(HTMLParser):
    """The tables of a report, and the texts of elements that have an id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.texts: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []
        self._cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if tag in ("meta", "link", "br", "img", "input", "hr"):
            return
        self._open.append((tag, about.get("id")))
        if tag == "table":
            self.tables.append(Table(about.get("id")))
        elif tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
            self.tables[-1].attributes.append(about)
        elif tag in ("td", "th") and self.tables:
            self.tables[-1].rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        for _tag, name in self._open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data
        if self._cell and self.tables:
            self.tables[-1].rows[-1][-1] += data


def number(text: str) -> int:
    return int(text.replace(",", "") or 0)


def check(directory: Path, capsys: Any) -> dict[str, int]:
    """Compare all that is shown of the drops of a run; returns them by cause."""
    summary = json.loads((directory / "summary.json").read_text())
    packets, links = summary["packets"], summary["links"]
    by_cause = {cause: packets.get(cause, 0) for cause in CAUSES if packets.get(cause)}
    total = sum(by_cause.values())
    _check_summary(summary, by_cause)
    _check_report((directory / "report.html").read_text(), summary, by_cause)
    _check_page(directory, summary)
    print_summary(summary, Console())
    printed = capsys.readouterr().out
    told = re.search(r"^dropped packets: (.*)$", printed, re.MULTILINE)
    assert (told is not None) == (total > 0)
    if told is not None:
        assert {number(each) for each in re.findall(r"([\d,]+) (?:by|larger|without|with)", told[1])} == set(
            by_cause.values()
        )
    in_notebook = re.search(r"Dropped packets: ([^<]*)<", run_html(summary, mode="sim"))
    assert (in_notebook and in_notebook[1]) == (told and told[1])
    never = {link["name"] for link in links} - {
        link["name"] for link in links for phase in link["phases"] if phase["configured"]["loss"] != 0
    }
    assert not [link for link in links if link["name"] in never and link["packets"]["lost"]], "not configured"
    return by_cause


def _check_summary(summary: Mapping[str, Any], by_cause: Mapping[str, int]) -> None:
    drops, packets = summary["drops"], summary["packets"]
    assert drops["packets"] == sum(by_cause.values())
    assert {each["cause"]: each["packets"] for each in drops["causes"]} == by_cause
    for each in drops["causes"]:
        on_links = sum(link["packets"] for link in each["links"])
        assert on_links == (each["packets"] if each["cause"] in ON_LINKS else 0), each
    begun = packets["injected"] + packets["copied"] + packets["replies"]
    elsewhere = packets["delivered"] + packets["answered"] + packets["held"]
    assert begun == elsewhere + drops["packets"]


def _check_report(text: str, summary: Mapping[str, Any], by_cause: Mapping[str, int]) -> None:
    report = _Report(text)
    total = sum(by_cause.values())
    tile = report.texts["drops-tile"]
    shown = re.match(r"([\d,]+)packets dropped in the network(?:: (.*))?", tile)
    assert shown is not None, tile
    assert number(shown[1]) == total
    for cause, count in by_cause.items():
        assert f"{count:,} {CAUSES[cause]}" in (shown[2] or ""), tile
    fates = next(each for each in report.tables if each.id == "fates")
    counted = {row[0].replace(" ", "_"): number(row[1]) for row in fates.rows[1:]}
    assert {cause: counted[cause] for cause in CAUSES if counted[cause]} == by_cause
    wide = [
        each
        for each in report.tables
        if each.rows and "dropped" in each.rows[0] and "offered" in each.rows[0]
    ]
    assert sum(number(cell) for table in wide for cell in table.column("dropped")) == sum(
        count for cause, count in by_cause.items() if cause in ON_LINKS
    )
    matrices = [each for each in report.tables if each.id == "drops"]
    assert len(matrices) == (1 if total else 0)
    for matrix in matrices:
        rows = [
            row for row, about in zip(matrix.rows, matrix.attributes, strict=True) if "data-link" in about
        ]
        for row in rows:
            assert sum(number(cell) for cell in row[1:-1]) == number(row[-1])
        *each, together = (number(cell) for cell in matrix.rows[-1][1:])
        assert together == total
        assert each == [by_cause[cause["cause"]] for cause in summary["drops"]["causes"]]
        for place, cause in enumerate(summary["drops"]["causes"], 1):
            if cause["cause"] in ON_LINKS:
                assert sum(number(row[place]) for row in rows) == cause["packets"]


def _check_page(directory: Path, summary: Mapping[str, Any]) -> None:
    app = application(directory.parents[2], token="secret", port=8000)
    run = id_of(directory)
    details = ask(app, f"/api/runs/{run}").json
    assert details["summary"]["drops"] == summary["drops"]
    shown = {(link["name"], link["way"]): link["undelivered_packets"] for link in details["summary"]["links"]}
    series = ask(app, f"/api/runs/{run}/series?table=links&max_points=50").json["series"]
    for each in series:
        columns = each["columns"]
        link = next(
            link for link in summary["links"] if (link["name"], link["way"]) == (each["link"], each["way"])
        )
        for cause in ON_LINKS:
            over_time = round(sum(value or 0 for value in columns[f"{cause}_packets"]))
            assert over_time == link["packets"][cause], (each["link"], each["way"], cause)
        assert shown[each["link"], each["way"]] == sum(link["packets"][cause] for cause in ON_LINKS)
    on_links = sum(each["packets"] for each in summary["drops"]["causes"] if each["cause"] in ON_LINKS)
    assert sum(shown.values()) == on_links
