"""The scenarios of RFC 7928: its figures, and networks that resolve."""

from pathlib import Path
from typing import get_args

import pytest
import yaml

from longhaul.benchmark.algorithms import kernel_algorithms
from longhaul.benchmark.aqm.cases import LOSS_RATES, SCENARIOS, flows_for, window_packets
from longhaul.benchmark.aqm.queues import QUEUES, marks, queue, settings
from longhaul.benchmark.aqm.suite import AQM
from longhaul.benchmark.benchmark import Asked, plan
from longhaul.benchmark.suite import Size
from longhaul.errors import LonghaulError
from longhaul.scenario import load_scenario, resolve
from longhaul.scenario.model.queue import Queue

FULL, FEW = Size(None, True), Size(None, False)


def cases(size=FULL):
    return {case.name: case for scenario in SCENARIOS for case in scenario.cases(size)}


def asked(subjects=("fifo",), modes=("sim",), only=()):
    return Asked(AQM, subjects, modes, only, FEW, 2, 1, 1, 1, 1, False, Path())


def delays_ms(document, source):
    return [
        float(document["links"][name]["delay"].removesuffix("ns")) / 1e6
        for name in (f"from-{source}", f"to-{source}")
    ]


@pytest.mark.parametrize("name", QUEUES)
def test_every_case_resolves_with_every_queue(name, tmp_path):
    chosen = cases() if name == "codel" else {key: cases()[key] for key in ("tcp-friendly", "mix")}
    for case in chosen.values():
        path = tmp_path / "case.yaml"
        path.write_text(yaml.safe_dump(case.document(subject=name, standard=None, seed=1)))
        made = resolve(load_scenario(path))
        assert len(made.traffic) == case.flow_count, case.name
        assert case.from_s < case.to_s <= case.duration_s


def test_every_queue_that_is_modelled_can_be_compared():
    """Except for priorities, which need traffic with code points."""
    kinds = {get_args(each.model_fields["kind"].annotation)[0] for each in get_args(Queue)}
    assert kinds - set(QUEUES) == {"priority"}


def test_every_kind_of_case_has_measures_that_exist():
    for case in cases().values():
        assert set(AQM.of_kind[case.kind]) <= set(AQM.measures), case.name
    for score in AQM.scorecard:
        for source in score.sources:
            case = next(each for each in cases().values() if (each.scenario, each.label) == source)
            assert score.measure in AQM.of_kind[case.kind]


def test_levels_of_congestion_have_the_flows_of_section_8_2():
    # S: 83.3 packets of 1500 bytes in 100 ms at 10 Mbit/s, and as many in the buffer.
    assert window_packets() == pytest.approx(166.67, abs=0.01)
    found = [flows_for(loss, window_packets()) for loss in LOSS_RATES.values()]
    # The RFC's own factors: 0.036, 0.081 and 0.114 times S.
    assert found == [round(0.036 * 166.67), round(0.081 * 166.67), round(0.114 * 166.67)] == [6, 14, 19]
    assert [cases()[f"congestion {level}"].flow_count for level in LOSS_RATES] == found
    assert sum(len(each.entries) for each in cases()["varying-load"].sources) == 19


def test_bursts_are_those_of_section_7_2():
    found = {name: {each.name for each in case.sources} for name, case in cases().items() if "bursts" in name}
    assert found == {
        "bursts I": {"web", "cbr"},
        "bursts II": {"web", "cbr", "tcp"},
        "bursts III": {"video", "web", "cbr"},
        "bursts IV": {"video", "web", "cbr", "tcp"},
    }
    web = next(each for each in cases()["bursts I"].sources if each.name == "web")
    assert len(web.entries) == 6


def test_round_trips_are_those_that_a_case_states():
    for name, trips in (("rtt-fairness 5 ms", (100, 5)), ("rtt-fairness 560 ms", (100, 560))):
        document = cases()[name].document(subject="fifo", standard=None, seed=1)
        central_ms = float(document["links"]["central"]["delay"].removesuffix("ms"))
        found = [2 * (central_ms + sum(delays_ms(document, source))) for source in ("one", "two")]
        assert found == pytest.approx(trips)


def test_a_queue_has_room_for_the_product_of_the_longest_round_trip():
    assert cases()["tcp-friendly"].product_packets == round(10e6 * 0.1 / 12_000) == 83
    assert cases()["rtt-fairness 200 ms"].product_packets == 167
    assert cases()["varying-capacity slow"].product_packets == 833


def test_all_queues_meet_the_same_starts_and_other_seeds_other_ones():
    case = cases()["congestion heavy"]
    starts = [
        [each["start"] for each in case.document(subject=name, standard=None, seed=seed)["traffic"].values()]
        for name, seed in (("fifo", 1), ("pie", 1), ("fifo", 2))
    ]
    assert starts[0] == starts[1] != starts[2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fifo", {"kind": "fifo", "limit": "80p"}),
        ("fifo,limit=0.5bdp", {"kind": "fifo", "limit": "40p"}),
        ("fifo,limit=20ms", {"kind": "fifo", "limit": "20ms"}),
        ("codel,target=10ms", {"kind": "codel", "limit": "80p", "target": "10ms"}),
        ("pie,alpha=0.2", {"kind": "pie", "limit": "80p", "alpha": 0.2}),
        ("red", {"kind": "red", "limit": "80p", "min": "13p", "max": "40p"}),
        ("red,min=0.1bdp,limit=2bdp", {"kind": "red", "limit": "160p", "min": "8p", "max": "80p"}),
    ],
)
def test_limits_follow_the_product(text, found):
    assert queue(text, packets=80) == found


def test_a_queue_that_marks_has_flows_that_can_use_ecn():
    case = cases()["tcp-friendly"]
    assert [marks(each) for each in ("codel,ecn=true", "fq-codel")] == [True, False]
    assert case.document(subject="codel,ecn=true", standard=None, seed=1)["tcp"]["ecn"] is True
    assert "ecn" not in case.document(subject="codel", standard=None, seed=1)["tcp"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("coddel", 'unknown queue discipline "coddel"; did you mean "codel"'),
        ("cake", 'unknown queue discipline "cake"'),
        ("codel,10ms", 'queue "codel,10ms": "10ms" is not a setting'),
        ("codel,target=5", 'queue "codel,target=5": target: "5" has no unit'),
        ("codel,tarket=5ms", 'queue "codel,tarket=5ms": codel has no setting "tarket"'),
        ("red,min=2bdp", 'queue "red,min=2bdp": '),
        ("codel,ecn={a", 'queue "codel,ecn={a": "ecn={a" is not a setting'),
        ("fifo,limit=much", 'queue "fifo,limit=much": '),
    ],
)
def test_a_queue_that_does_not_exist_is_refused(text, words):
    with pytest.raises(LonghaulError) as refused:
        settings(text)
    assert str(refused.value).startswith(words)


def test_cases_whose_algorithms_the_kernel_lacks_are_only_simulated(monkeypatch):
    kernel_algorithms.cache_clear()
    monkeypatch.setattr("longhaul.benchmark.benchmark.kernel_algorithms", lambda: ("reno", "cubic"))
    planned = plan(asked(modes=("sim", "live")))
    live = {each.case.scenario for each in planned.trials if each.mode == "live"}
    simulated = {each.case.scenario for each in planned.trials if each.mode == "sim"}
    assert simulated - live == {"background"}
    assert planned.not_live == planned.not_simulated == ()
    assert planned.only_simulated == {"background": ("vegas",)}
