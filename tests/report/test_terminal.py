"""What reports print is what they were given."""

import pytest

from longhaul.analysis.comparison import Row
from longhaul.analysis.estimates import Estimate
from longhaul.cli.sweep_progress import SweepProgress
from longhaul.cli.terminal.comparison import print_comparison
from longhaul.cli.terminal.sweep import print_sweep
from longhaul.results.comparison import ComparedGroup

METRIC = "flows.bulk.goodput"


def test_brackets_of_values_and_errors_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    estimate = {"mean": 1e6, "half_width": None, "unit": "bit/s", "runs": 1}
    print_sweep(
        {
            "name": "pair",
            "variants": 1,
            "points": 1,
            "failed": 0,
            "errors": [],
            "axes": [AXIS],
            "verdicts": {},
            "not_measured": [],
        },
        [{"variant": 0, "metric": METRIC, AXIS["column"]: "[near, far]", **estimate}],
    )
    with SweepProgress(1, workers="here") as progress:
        progress.warn("install longhaul[dask]")
    print_comparison([ComparedGroup("runs/[old]", "", 1), ComparedGroup("runs/[new]", "", 1)], [])
    printed = capsys.readouterr()
    for text in ("[near, far]", "runs/[old]", "runs/[new]"):
        assert text in printed.out
    assert "install longhaul[dask]" in printed.err


AXIS = {"name": "links.wan.routes", "column": "axis_links_wan_routes"}


def test_every_group_of_a_comparison_has_a_letter(capsys: pytest.CaptureFixture[str]) -> None:
    groups = [ComparedGroup(f"group{number}", "", 1) for number in range(28)]
    estimates = tuple(Estimate(float(number), None, 1, 1, 0.0) for number in range(28))
    print_comparison(groups, [Row(METRIC, estimates, 27.0, None)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[24:28]] == ["Y", "Z", "A1", "B1"]
    assert lines[27].split()[1] == "group27"
