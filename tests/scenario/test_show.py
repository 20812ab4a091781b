"""What ``longhaul show`` tells, as data and in 80 columns."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from longhaul.scenario.check.load import load_scenario
from longhaul.scenario.lower.resolve import Resolved, resolve
from longhaul.scenario.show.describe import describe
from longhaul.scenario.show.tables import tables

PACED = """
version: 1
name: paced
duration: 4s
nodes:
  lab:
    kind: host
    pacing:
      classes:
        backup: {rate: 400Mbit, to: archive, port: 873}
        users: {rate: 20Mbit, flows: 10, traffic: users}
        shaped: {bucket: 100Mbit, burst: 15400B, protocol: udp, queue: 20ms}
      default: shaped
  archive: {kind: host}
links:
  wan: {endpoints: [lab, archive], rate: 1Gbit, delay: 10ms, forward: {loss: 2%}}
traffic:
  users: {kind: tcp, from: lab, to: archive, flows: 4}
"""


@pytest.fixture
def paced(tmp_path: Path) -> Resolved:
    path = tmp_path / "paced.yaml"
    path.write_text(PACED)
    return resolve(load_scenario(path))


def shown(resolved: Resolved) -> list[str]:
    """Lines of a terminal with 80 columns."""
    console = Console(file=io.StringIO(), width=80)
    console.print(tables(describe(resolved)))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # it is a StringIO


def test_a_class_says_what_it_may_and_whose_packets_it_takes(paced: Resolved) -> None:
    backup, users, shaped = describe(paced)["pacing"]
    assert backup["model"] == {"kind": "paced", "bits_per_s": 400_000_000}
    assert (backup["takes"]["to"], backup["takes"]["ports"]) == (["archive"], [[873, 873]])
    # Ten classes of 20 Mbit/s are one row.
    assert (users["class"], users["takes"]["flows"], users["takes"]["traffic"]) == ("users", 10, ["users"])
    # 20 ms at 100 Mbit/s.
    assert (shaped["limit_packets"], shaped["limit_bytes"], shaped["is_default"]) == (None, 250_000, True)


def test_the_table_has_every_class_and_fits(paced: Resolved) -> None:
    lines = shown(paced)
    assert max(map(len, lines)) <= 80
    text = "\n".join(" ".join(line.split()) for line in lines)
    assert "lab backup 400 Mbit/s 1000 packets to archive, port 873" in text
    assert "10 flows each" in text
    assert "protocol 17; all else" in text


def test_directions_that_differ_have_a_row_each(paced: Resolved) -> None:
    text = "\n".join(" ".join(line.split()) for line in shown(paced))
    assert "wan lab > archive 10 ms 1 Gbit/s 2.5 MB 2 %" in text
    assert "wan archive > lab 10 ms 1 Gbit/s 2.5 MB -" in text


def test_what_paces_nothing_shows_no_classes() -> None:
    resolved = resolve(load_scenario(Path(__file__).parents[2] / "scenarios" / "two-clusters.yaml"))
    assert describe(resolved)["pacing"] == []
    assert "pacing" not in shown(resolved)
