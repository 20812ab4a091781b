"""The metric of the study of delays: by arithmetic, and where the deviation is known to the nanosecond."""

from array import array
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find
from longhaul.scenario import parse_scenario, resolve
from longhaul.studies import StudyFolder, read_table

from .conftest import STUDIES
from .test_programs import small

FOLDER = STUDIES / "delay_deviation"


@pytest.fixture(autouse=True)
def _modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


def written(path: Path, rows: list[tuple[int, int, int]]) -> Path:
    with path.open("wb") as file:
        array("q", [value for row in rows for value in row]).tofile(file)
    return path


def test_a_deviation_counts_the_same_whether_a_packet_is_early_or_late() -> None:
    from deviations import deviations

    found = deviations([1_000, 990, 1_030, 1_000], 1_000, sent=6)
    assert (found.packets, found.missing) == (4, 2)
    # 0, 0, 10, 30
    assert (found.median_ns, found.worst_ns) == (0, 30)
    assert (found.least_ns, found.most_ns) == (-10, 30)


def test_quantiles_are_nearest_ranks() -> None:
    from deviations import deviations

    hundred = deviations(list(range(1, 101)), 0, sent=100)
    assert (hundred.median_ns, hundred.p99_ns, hundred.worst_ns) == (50, 99, 100)
    # Of 101 values the 51st; 99 % of 101 are 99.99, so the 100th.
    more = deviations(list(range(1, 102)), 0, sent=101)
    assert (more.median_ns, more.p99_ns, more.worst_ns) == (51, 100, 101)
    assert deviations([7], 0, sent=1).p99_ns == 7


def test_no_packet_is_no_deviation() -> None:
    from deviations import deviations

    with pytest.raises(ValueError, match="no packet"):
        deviations([], 1_000, sent=3)


def test_delays_join_what_both_programs_saw_of_a_packet(tmp_path: Path) -> None:
    from deviations import delays_ns

    # Number 1 was lost, number 3 has no time of the kernel, and 2 came before 0.
    source = written(tmp_path / "source", [(0, 110, 100), (1, 210, 200), (2, 310, 300), (3, 0, 400)])
    sink = written(tmp_path / "sink", [(2, 1_310, 1_350), (0, 1_117, 1_160), (3, 1_400, 1_460)])
    assert delays_ns(source, sink, "ports") == ([1_000, 1_007], 4)
    assert delays_ns(source, sink, "programs") == ([1_050, 1_060, 1_060], 4)


def test_the_worst_of_summarised_rows_is_the_worst_of_all_packets() -> None:
    from delay_deviation import summaries

    rows = [
        {"system": "x", "packets_per_s": rate, "packets": 10, "missing": 0, "median_ns": m, "p99_ns": 2 * m}
        | {"worst_ns": 3 * m, "least_ns": -m, "most_ns": 3 * m}
        for rate, m in ((100, 5), (1_000, 1), (10_000, 9))
    ]
    (found,) = summaries(rows, "system")
    assert found == {
        "system": "x",
        "packets_per_s": "100 to 10,000",
        "packets": 30,
        "missing": 0,
        "median_ns": 5,
        "p99_ns": 10,
        "worst_ns": 27,
        "least_ns": -9,
        "most_ns": 27,
    }


def test_the_scenario_is_right() -> None:
    from delay_deviation import DELAYS_US, LOADS, scenario

    for delay_us in DELAYS_US:
        for packets_per_s, packets in LOADS.items():
            text = scenario(delay_us, packets_per_s, packets)
            plan = resolve(parse_scenario(text.encode(), name="deviation")).plan
            for way in ("forward", "reverse"):
                delay = plan["links"][0][way]["delay"]
                assert delay == {"model": "constant", "delay_ns": delay_us * 1_000}


def test_on_the_virtual_clock_the_deviation_is_what_arithmetic_says(tmp_path: Path) -> None:
    try:
        find()
    except LonghaulError as error:
        pytest.skip(f"{error.message}: longhaul kernel build")
    results = small(StudyFolder(FOLDER), tmp_path, "--only", "virtual")
    rows = read_table(results / "virtual.csv")
    # netem counts whole ticks of 64 ns, and cuts off the rest.
    tick_ns, delay_ns = 64, 10_003_000
    early_ns = delay_ns - delay_ns // tick_ns * tick_ns
    expected = {"Longhaul": 0, "netem": -early_ns}
    assert early_ns == 56
    assert sorted((row["system"], row["place"]) for row in rows) == sorted(
        (system, place) for system in expected for place in ("ports", "programs")
    )
    for row in rows:
        assert row["missing"] == "0"
        assert int(row["packets"]) == 200
        for end in ("least_ns", "most_ns"):
            assert int(row[end]) == expected[row["system"]], row
        assert int(row["median_ns"]) == int(row["worst_ns"]) == abs(expected[row["system"]])


def test_on_the_real_clock_no_packet_is_early(tmp_path: Path, live_machine: None) -> None:
    results = small(StudyFolder(FOLDER), tmp_path, "--only", "live", "--rounds", "1")
    rows = read_table(results / "rounds.csv")
    assert {row["system"] for row in rows} >= {"Longhaul", "veth, no delay"}
    for row in rows:
        assert (row["packets"], row["missing"]) == ("200", "0")
        assert 0 <= int(row["least_ns"]) <= int(row["median_ns"]) <= int(row["p99_ns"]), row
        assert int(row["p99_ns"]) <= int(row["worst_ns"]) == int(row["most_ns"]), row
    # A program sees a packet after its host's kernel.
    medians = {(row["system"], row["place"]): int(row["median_ns"]) for row in rows}
    for system in {row["system"] for row in rows}:
        assert medians[system, "ports"] < medians[system, "programs"]
