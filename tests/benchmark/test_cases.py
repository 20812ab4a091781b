"""The scenarios of the benchmark: the draft's figures, scaled where they are, and resolvable."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from longhaul.benchmark.benchmark import Asked, plan
from longhaul.benchmark.cc.case import document
from longhaul.benchmark.cc.cases import SCENARIOS
from longhaul.benchmark.cc.suite import CC, size
from longhaul.benchmark.suite import Size
from longhaul.errors import LonghaulError
from longhaul.scenario import load_scenario, resolve

LIVE, PAPER = Size(100_000_000, False), Size(None, True, 5.0)


def cases(size):
    return {case.name: case for scenario in SCENARIOS for case in scenario.cases(size)}


def resolved(case, tmp_path, control="reno", standard="cubic", seed=1):
    path = tmp_path / "case.yaml"
    content = document(case, control=control, standard=standard if case.standards else None, seed=seed)
    path.write_text(yaml.safe_dump(content))
    return resolve(load_scenario(path))


BASE = Asked(
    suite=CC,
    subjects=("reno",),
    modes=("sim",),
    only=(),
    size=LIVE,
    seeds=1,
    repeat=1,
    seed=1,
    at_once=1,
    tries=1,
    keep=False,
    runs=Path(),
)


def asked(**changes):
    return replace(BASE, **changes)


def test_the_sizes_that_options_ask_for():
    assert size(100_000_000, full=False, paper=False) == LIVE
    assert size(100_000_000, full=True, paper=False) == Size(100_000_000, True)
    assert size(100_000_000, full=False, paper=True) == PAPER


@pytest.mark.parametrize("size", [LIVE, PAPER], ids=["live", "paper"])
def test_every_scenario_resolves(size, tmp_path):
    last = {case.scenario: case for case in cases(size).values()}
    assert len(last) == len(SCENARIOS)
    for case in last.values():
        made = resolved(case, tmp_path)
        assert len(made.traffic) == len(case.flows) + len(case.cross), case.name
        assert case.from_s < case.to_s <= case.duration_s


def test_round_trips_of_the_access_link_are_those_of_table_1():
    trips = sorted(2 * (flow.near_ms + flow.far_ms) for flow in cases(LIVE)["access"].flows)
    assert trips == [4, 28, 54, 74, 98, 124, 150, 174, 200]


@pytest.mark.parametrize(
    ("name", "bits_per_s", "scale"),
    [
        ("access", 100_000_000, 1),
        ("data-centre", 100_000_000, 0.1),
        ("trans-oceanic", 100_000_000, 0.1),
        ("satellite", 40_000_000, 1),
        ("dial-up", 64_000, 1),
        ("release", 20_000_000, 0.2),
    ],
)
def test_rates_are_scaled_to_the_most_that_is_asked_for_and_the_scale_is_known(name, bits_per_s, scale):
    case = cases(LIVE)[name]
    assert (case.bits_per_s, case.scale) == (bits_per_s, pytest.approx(scale))
    assert cases(PAPER)[next(each for each in cases(PAPER) if each.startswith(name))].scale == 1


def test_both_flows_of_a_ramp_up_have_the_round_trips_of_table_8():
    found = {
        name: [2 * (flow.near_ms + 2 + flow.far_ms) for flow in case.flows]
        for name, case in cases(PAPER).items()
        if case.scenario == "ramp-up" and "fast" not in name
    }
    assert list(found.values()) == [[80, 80], [120, 30], [30, 120]]


def test_all_round_trips_of_the_bottlenecks_are_60_ms():
    case = cases(LIVE)["bottlenecks"]
    hops = {"long": 3, "a": 1, "b": 1, "c": 1}
    trips = {flow.name: 2 * (flow.near_ms + 10 * hops[flow.name] + flow.far_ms) for flow in case.flows}
    assert set(trips.values()) == {60}


def test_all_controls_meet_the_same_starts_and_other_seeds_other_ones():
    case = cases(LIVE)["access"]
    starts = [
        [each["start"] for each in document(case, control=cc, standard=None, seed=seed)["traffic"].values()]
        for cc, seed in (("reno", 1), ("bbr", 1), ("reno", 2))
    ]
    assert starts[0] == starts[1] != starts[2]
    assert all(0 <= int(start[:-2]) <= 1400 for start in starts[0] + starts[2])


def test_what_the_standard_has_among_equals_is_run_even_if_nobody_asked_for_it():
    trials = plan(asked(subjects=("scalable",), only=("impact",))).trials
    assert {(each.subject, each.standard) for each in trials} == {
        ("scalable", "reno"), ("scalable", "cubic"), ("reno", "reno"), ("cubic", "cubic"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"subjects": ("cubik",)}, 'unknown congestion-control algorithm "cubik"; name one of the models'),
        ({"only": ("acces",)}, 'there is no scenario "acces"; did you mean "access"'),
        ({"modes": ("live",), "subjects": ("tahoe",)}, "this kernel has none of tahoe; name one of"),
    ],
)
def test_what_cannot_be_compared_is_refused(changes, words):
    with pytest.raises(LonghaulError) as refused:
        plan(asked(**changes))
    assert str(refused.value).startswith(words)
