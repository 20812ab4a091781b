"""The eWAN study: its arithmetic, its scenarios, and two of its figures; all of them take minutes."""

import shutil
from pathlib import Path

import pytest

from longhaul.scenario import parse_scenario, resolve
from longhaul.studies import Study
from longhaul.studies.results_files import read_results

FOLDER = Path(__file__).parents[2] / "studies"


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER / "ewan"))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """The study in a directory of its own."""
    copy = tmp_path / "studies" / "ewan"
    shutil.copytree(FOLDER / "ewan", copy, ignore=shutil.ignore_patterns("results"))
    return Study(copy, whole=False)


def test_24_mbits_over_100_ms_are_207_segments_and_a_loss_in_28_600() -> None:
    import lyon

    window = lyon.window_segments(24)
    assert window == pytest.approx(24e6 * 0.1 / 8 / 1448)
    assert round(window) == 207
    assert lyon.loss_of(window) == pytest.approx(3.5e-5, rel=0.01)


def test_half_a_segment_a_round_trip_for_a_minute_makes_27_mbits_of_83_segments() -> None:
    import lyon

    # 600 round trips add 300 segments, 150 in the mean: 233 segments of 11,584 bits in 0.1 s.
    assert lyon.grown_mbits(83, 60) == pytest.approx(233 * 11_584 / 0.1 / 1e6)


@pytest.mark.parametrize(
    ("buffer_mib", "round_trip_s", "mbits"),
    [(16, 0.1, 8 * 2**20 * 8 / 0.1 / 1e6), (25, 0.1, 1000 * 1448 / 1538), (16, 0.01, 1000 * 1448 / 1538)],
)
def test_half_of_a_buffer_a_round_trip_or_the_wire(
    buffer_mib: int, round_trip_s: float, mbits: float
) -> None:
    import one_flow

    assert one_flow.window_mbits(buffer_mib, round_trip_s) == pytest.approx(mbits)


def test_a_bucket_lets_its_burst_and_a_millisecond_wait_as_tc_does() -> None:
    import testbed

    # 490 Mbit/s for 1 ms are 61,250 bytes.
    assert testbed.bucket(490).waits == "76650B"
    assert testbed.bucket(490, burst=testbed.LITERAL_BURST).waits == "15461250B"


def test_sources_exceed_the_bottleneck_by_what_the_figure_says() -> None:
    import congestion

    found = {
        percent: round(100 * congestion.level(each)) for percent, each in congestion.SOURCES_MBITS.items()
    }
    assert found == {percent: percent for percent in (0, 10, 14, 20, 40)}


def test_plans_are_those_of_the_paper_on_what_a_gigabit_carries() -> None:
    import services

    length = 500e6 * 8 / (1e9 * 1448 / 1538)
    shared, serial = (services.planned(policy) for policy in ("fair", "serial-fcfs"))
    assert [each.finish_s for each in shared.outcomes] == pytest.approx([2 * length] * 2)
    assert [(each.start_s, each.finish_s) for each in serial.outcomes] == [
        pytest.approx((0, length)),
        pytest.approx((length, 2 * length)),
    ]
    refused = services.planned("fair", volume_bytes=500e9)
    assert not any(each.satisfied for each in refused.outcomes)


def test_every_case_with_linux_is_a_scenario_whose_round_trip_is_what_it_says() -> None:
    import on_linux
    from testbed import RTT_S

    from longhaul.scenario.lower.paths import Routes

    found_ms = {}
    for run in on_linux.runs():
        found = resolve(parse_scenario(run.trial.text.encode(), name="case.yaml", settings=run.trial.params))
        nodes = [node["name"] for node in found.plan["nodes"]]
        way = Routes(found.plan).way(nodes.index("b"), nodes.index("y"))
        assert way is not None
        found_ms[run.key] = way.round_trip_ns / 1e6
    assert found_ms.pop("8: 10 ms, 16 MiB, Reno") == 10
    assert found_ms.pop("III: TCP, Reno") == found_ms.pop("III: UDP") == 0.06
    # netem's clock rounds up; what it adds is not part of a path's propagation.
    assert set(found_ms.values()) == {1e3 * RTT_S}


def test_figures_5_and_6_hold(study: Study) -> None:
    import spacing

    with study.part("figures-5-6"):
        spacing.study_spacing(study)
    # A pacer at the end, and two that undo pacing: each has its own claim.
    verdicts = [claim["verdict"] for claim in read_results(study.results)["figures-5-6"]["claims"]]
    assert verdicts == ["reproduced"] * 3


def test_figure_10_what_may_wait_decides_and_not_whether_it_is_a_bucket(study: Study) -> None:
    import testbed
    from testbed import RENO, RENO_L2, bucket, mbits, one, paced

    short, long = bucket(490).waits, paced(490).waits
    limits = {
        "bucket-short": bucket(490),
        "paced-short": paced(490, waits=short),
        "bucket-long": bucket(490, waits=long),
        "paced-long": paced(490),
    }
    for control, apart in ((RENO, 0.5), (RENO_L2, 0.02)):
        trials = [testbed.Trial(name, one(control), limit, seconds=8) for name, limit in limits.items()]
        rate = {trial.name: mbits(result, "a") for trial, result in testbed.simulate(study, trials)}
        for waits in ("short", "long"):
            assert rate[f"bucket-{waits}"] == pytest.approx(rate[f"paced-{waits}"], rel=apart)
        assert rate["paced-long"] > 3 * rate["paced-short"]
