"""Links that somebody else leaves under the names that are about to be written lead nowhere."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longhaul.export.files import Exported
from longhaul.export.files import write as write_export
from longhaul.scenario.traces.files import write_sidecar
from longhaul.traces.collect.prober import Sample
from longhaul.traces.collect.trace_file import Link, TraceFile
from longhaul.workloads import recording


def collect(place: Path) -> None:
    file = TraceFile(place / "a.csv", [Link("par", "nyc")], "ping", 0, 0)
    file.write(Link("par", "nyc"), Sample(1, 2, None))
    file.finish({})


def record(place: Path) -> None:
    recording.write([[("compute", None, 5)]], place / "a.csv", title="t")


def export(place: Path) -> None:
    write_export(Exported({"a.sh": "true\n"}, ()), place)


def sidecar(place: Path) -> None:
    (place / "a.csv").write_text("t_s\n")
    write_sidecar(place / "a.csv", {})


@pytest.mark.parametrize(
    ("write", "names", "written"),
    [
        (collect, [".a.csv.part", ".a.json.part"], ["a.csv", "a.json"]),
        (record, [".a.csv.part"], ["a.csv"]),
        (export, ["a.sh", f".a.sh.{os.getpid()}.part"], ["a.sh"]),
        (sidecar, ["a.json"], ["a.json"]),
    ],
)
def test_a_planted_link_is_not_written_through(
    write: Callable[[Path], Any], names: list[str], written: list[str], tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    victim.chmod(0o600)
    place = tmp_path / "shared"
    place.mkdir()
    for name in names:
        (place / name).symlink_to(victim)
    write(place)
    assert (victim.read_text(), victim.stat().st_mode & 0o777) == ("untouched", 0o600)
    for name in written:
        assert not (place / name).is_symlink(), name
        assert (place / name).read_bytes(), name
