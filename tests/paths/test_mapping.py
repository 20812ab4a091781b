"""Delays, jitter and loss of links from traces, against arithmetic."""

import json
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.paths import PathMap, lower_envelope, map_paths
from longhaul.analysis.traces import Answers, Hop, Pings, Trace
from longhaul.errors import LonghaulError
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.expand.topologies.draft import written
from longhaul.scenario.lower.resolve import resolve
from longhaul.traces.paths.draft import Written, draft
from longhaul.traces.paths.lines import Output, answers
from longhaul.traces.paths.outputs import read_output
from longhaul.units.quantities import Rate

from . import outputs

MS = 1_000_000


def trace(
    *round_trips_ms: float | None, source: str = "here", names: Sequence[str] = (), end: str = ""
) -> Trace:
    """A path of hops 10.0.0.1, 10.0.0.2 and so on, or as named; the last one is the target."""
    called = list(names) or [f"10.0.0.{number}" for number in range(1, len(round_trips_ms) + 1)]
    hops = [
        Hop(at, () if ms is None else (Answers(name, 3, round(ms * MS), ms * MS),))
        for at, (name, ms) in enumerate(zip(called, round_trips_ms, strict=True), 1)
    ]
    return Trace(source, end or called[-1], called[-1], tuple(hops), reached=True)


def delays_ms(found: PathMap) -> dict[tuple[str, str], float]:
    return {each.ends: each.delay_ns / MS for each in found.stretches}


def plan(found: PathMap, **said: Any) -> Any:
    text = written(draft(found, Written(**said)))
    return json.loads(json.dumps(resolve(parse_scenario(text.encode(), name="made.yaml")).plan))


def test_a_link_takes_half_of_what_it_adds_to_the_round_trip() -> None:
    found = map_paths([trace(2, 12, 32, 36)])
    assert list(delays_ms(found).values()) == [1, 5, 10, 2]


def test_both_ways_are_taken_to_be_alike_whatever_they_are() -> None:
    # 1 ms there and 9 ms back look like 5 and 5: the sum is right, the parts cannot be known.
    there, back = [1, 2], [9, 3]
    round_trips = np.cumsum(np.add(there, back))
    found = map_paths([trace(*round_trips)])
    assert list(delays_ms(found).values()) == [(1 + 9) / 2, (2 + 3) / 2]


def test_a_slow_answer_moves_delay_to_the_link_before_but_never_changes_the_whole() -> None:
    # The second router answers 25 ms late; behind it is a place at 20 ms, so it is at 20 ms or nearer.
    found = map_paths([trace(2, 35, 20, 41)])
    assert list(delays_ms(found).values()) == [1, 9, 0, 10.5]
    assert sum(delays_ms(found).values()) == 41 / 2
    assert [each.slow for each in found.stretches] == [
        (None, None), (None, 35 * MS), (35 * MS, None), (None, None),
    ]  # fmt: skip


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=12),
    st.lists(st.integers(0, 100), min_size=12, max_size=12),
)
def test_late_answers_never_bring_a_place_nearer_than_it_is(steps: list[int], late: list[int]) -> None:
    true = np.cumsum(steps)
    keys = [str(number) for number in range(len(true))]
    measured = {key: float(value + extra) for key, value, extra in zip(keys, true, late, strict=False)}
    levels = lower_envelope(measured, {one: {other} for one, other in pairwise(keys)})
    taken = [levels[key] for key in keys]
    assert all(low >= value for low, value in zip(taken, true, strict=True))
    assert all(low <= measured[key] for key, low in zip(keys, taken, strict=True))
    assert taken == sorted(taken)
    # Whatever lies between its place and a prompt one behind it at the same distance is found exactly.
    assert taken == np.minimum.accumulate([measured[key] for key in keys][::-1])[::-1].tolist()


def test_an_envelope_ends_also_where_paths_go_in_circles() -> None:
    levels = lower_envelope({"a": 5.0, "b": 3.0, "c": 4.0}, {"a": {"b"}, "b": {"c"}, "c": {"a"}})
    assert levels == {"a": 3.0, "b": 3.0, "c": 3.0}


def test_shared_routers_are_one_and_agree_along_all_paths() -> None:
    one = trace(2, 12, 20, names=["10.0.0.1", "10.0.0.2", "10.9.0.1"])
    other = trace(2, 11, 40, names=["10.0.0.1", "10.0.0.2", "10.9.0.2"])
    found = map_paths([one, other])
    assert delays_ms(found) == {
        ("here", "10.0.0.1"): 1,
        ("10.0.0.1", "10.0.0.2"): 4.5,
        ("10.0.0.2", "10.9.0.1"): 4.5,
        ("10.0.0.2", "10.9.0.2"): 14.5,
    }
    kinds = {node["name"]: node["kind"] for node in plan(found)["nodes"]}
    assert kinds == {
        "here": "host",
        "10-0-0-1": "router",
        "10-0-0-2": "router",
        "10-9-0-1": "host",
        "10-9-0-2": "host",
    }


def test_sources_that_disagree_are_settled_by_the_median() -> None:
    shared = ["10.0.0.1", "10.0.0.2"]
    found = map_paths(
        [trace(2, 12, source="a", names=shared), trace(8, 20, source="b", names=shared),
         trace(4, 24, source="c", names=shared)]
    )  # fmt: skip
    (stretch,) = (each for each in found.stretches if each.ends == ("10.0.0.1", "10.0.0.2"))
    assert stretch.seen_ns == (5 * MS, 6 * MS, 10 * MS)
    assert stretch.delay_ns == 6 * MS


def test_a_source_that_is_a_target_elsewhere_is_one_place() -> None:
    there = trace(2, 12, source="paris", names=["10.0.0.1", "10.9.0.2"], end="tokyo")
    back = trace(4, 12, source="tokyo", names=["10.0.1.1", "10.9.0.1"], end="paris")
    found = map_paths([there, back])
    assert set(found.paths) == {("10.9.0.1", "10.9.0.2"), ("10.9.0.2", "10.9.0.1")}
    nodes = {node["name"]: node["kind"] for node in plan(found)["nodes"]}
    assert nodes["paris"] == "router", "two links lead there, and hosts have one"
    assert nodes["paris-h1"] == "host"


def test_a_name_goes_before_an_address() -> None:
    named = trace(2, 12, end="far.example")
    for order in ([named, trace(2, 12, source="b")], [trace(2, 12, source="b"), named]):
        assert map_paths(order).stations["10.0.0.2"].name == "far.example"


def test_silent_hops_are_counted_and_their_delay_is_in_one_link() -> None:
    found = map_paths([trace(2, None, None, 32, 36)])
    (first, gap, last) = found.stretches
    assert (first.silent, gap.silent, last.silent) == (0, 2, 0)
    assert gap.delay_ns == 15 * MS
    assert "2 silent routers in between" in written(draft(found, Written()))


def test_a_host_that_answers_only_pings_lies_behind_what_is_silent() -> None:
    silent = Trace("here", "far", "10.9.0.9", trace(2, 12).hops)
    answered = Answers("10.9.0.9", 5, 30 * MS, 30.0 * MS)
    ping = Trace("here", "far", "10.9.0.9", pings=Pings(5, 5, answered))
    found = map_paths([silent, ping])
    assert list(delays_ms(found).values()) == [1, 5, 9]
    assert found.notes == ()


def test_a_host_that_never_answers_is_written_with_a_gap_that_is_stated() -> None:
    found = map_paths([Trace("here", "far", "10.9.0.9", trace(2, 12).hops)])
    assert found.notes == (
        "far did not answer; the last that did is 10.0.0.2; what lies behind is not known",
    )
    assert found.stretches[-1].delay_ns == 0
    text = written(draft(found, Written()))
    assert "far never answered, so nothing is known of this link" in text
    assert "# Warning: far did not answer" in text


def test_an_address_that_answers_from_two_distances_is_one_place_and_said() -> None:
    names = ["10.0.0.1", "10.0.0.2", "10.0.0.1", "10.9.0.1"]
    found = map_paths([trace(2, 5, 7, 20, names=names)])
    assert list(delays_ms(found)) == [("here", "10.0.0.1"), ("10.0.0.1", "10.9.0.1")]
    assert "10.0.0.1 answers from 1 and 3 hops away" in found.notes[0]


def test_the_mean_of_exponential_jitter_is_found() -> None:
    # Each link adds an exponential time on the way back; 20,000 answers of each place.
    stream = np.random.default_rng(7)
    count, base, means = 20_000, [4 * MS, 20 * MS], [300_000.0, 700_000.0]
    total = np.zeros(count)
    hops = []
    for number, fixed in enumerate(base, 1):
        total = fixed + sum(stream.exponential(each, count) for each in means[:number])
        hops.append(Hop(number, (answers(f"10.0.0.{number}", total.round().astype(int).tolist()),)))
    found = map_paths([Trace("here", "10.0.0.2", "10.0.0.2", tuple(hops), reached=True)])
    for stretch, mean in zip(found.stretches, means, strict=True):
        # Half of it each way. The shortest of sums of two is above nothing by some 5 %.
        assert stretch.jitter_ns == pytest.approx(mean / 2, rel=0.1)
    delay = plan(found)["links"][1]["forward"]["delay"]
    assert delay["jitter"]["dist"] == "exponential"
    assert plan(found, jitter=False)["links"][1]["forward"]["delay"]["model"] == "constant"


def test_a_mean_over_the_shortest_of_n_is_that_of_the_jitter() -> None:
    # The shortest of n exponentials has an nth of their mean: what is above it is short by an nth.
    stream = np.random.default_rng(3)
    found = []
    for _trial in range(2000):
        trips = (MS + stream.exponential(400_000, 4)).round().astype(int).tolist()
        one = Trace("here", "10.0.0.1", "10.0.0.1", (Hop(1, (answers("10.0.0.1", trips),)),), reached=True)
        jitter = map_paths([one]).stretches[0].jitter_ns
        assert jitter is not None
        found.append(jitter)
    # The excess of four has a standard deviation of 0.58 of its mean: 4.5 standard errors of 2,000 are 6 %.
    assert np.mean(found) == pytest.approx(200_000, rel=0.06)


@pytest.mark.parametrize(
    ("sent", "received", "share", "words"),
    [
        (100, 81, 1 - sqrt(0.81), "19 of 100 pings lost, there and back"),
        (100, 100, 0, "0 of 100 pings lost (less than 3 %, with a confidence of 95 %)"),
        (10, 0, 0, "10 of 10 pings lost: the end does not answer pings, so its loss is not known"),
    ],
)
def test_loss_is_that_of_the_end_half_each_way(sent: int, received: int, share: float, words: str) -> None:
    answered = Answers("10.0.0.2", received, 12 * MS, 12.0 * MS) if received else None
    ping = Trace("here", "10.0.0.2", "10.0.0.2", pings=Pings(sent, received, answered))
    found = map_paths([trace(2, 12), ping])
    assert words in " ".join(written(draft(found, Written())).replace("\n  #", "").split())
    first, last = plan(found)["links"]
    for way in ("forward", "reverse"):
        assert first[way]["loss"]["model"] == "none"
        assert last[way]["loss"].get("probability", 0) == pytest.approx(share, abs=1e-6)


def test_rates_are_those_that_were_given() -> None:
    found = map_paths([trace(2, 12, 20)])
    given = plan(found, rate=Rate(10**9), speeds={"10.0.0.2": Rate(10**10)})
    rates = [link["forward"]["rate"]["bits_per_s"] for link in given["links"]]
    assert rates == [10**9, 10**10, 10**9]
    text = written(draft(found, Written()))
    assert "rate unknown, not limited" in text
    assert "probes do not see rates: 3 of 3 links are not limited" in text
    with pytest.raises(LonghaulError, match=r'no path leads to "10\.0\.0\.4"; did you mean "10\.0\.0\.'):
        draft(found, Written(speeds={"10.0.0.4": Rate(10**9)}))


@pytest.mark.parametrize(
    "name", ["TRACEROUTE", "NUMERIC", "BSD", "TRACEPATH", "REPORT", "JSON", "RAW", "SIX"]
)
def test_every_output_becomes_a_scenario_that_is_right(name: str) -> None:
    found = map_paths(read_output(Output("saved.txt", tuple(getattr(outputs, name).splitlines()), "")))
    resolved = plan(found)
    ways = [
        sum(link[way]["delay"]["delay_ns"] for link in resolved["links"]) for way in ("forward", "reverse")
    ]
    assert ways == [20_500_000, 20_500_000]
