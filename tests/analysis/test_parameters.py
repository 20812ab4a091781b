"""Names of runs are made of what differs, and tell all of them apart."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.differences import Fact, Facts
from longhaul.analysis.parameters import Parameter, algorithms, names, parameters


def run(**delays: str) -> Facts:
    return {(f"link {name}", "delay"): Fact(each, each) for name, each in delays.items()}


def labels(*runs: Facts) -> list[str]:
    return names(parameters(runs), len(runs))


def test_a_property_that_differs_alone_needs_no_subject() -> None:
    assert labels(run(wan="1 ms", lan="5 µs"), run(wan="2 ms", lan="5 µs")) == ["delay=1 ms", "delay=2 ms"]


def test_links_that_differ_in_the_same_way_are_one_parameter() -> None:
    (found,) = parameters([run(a="1 ms", b="1 ms"), run(a="2 ms", b="2 ms")])
    assert (found.name, found.values) == ("delay", ("1 ms", "2 ms"))


def test_links_that_differ_each_in_its_way_are_named() -> None:
    found = parameters([run(a="1 ms", b="7 ms"), run(a="2 ms", b="7 ms"), run(a="1 ms", b="8 ms")])
    assert [each.name for each in found] == ["delay of link a", "delay of link b"]


def test_algorithms_are_called_cc_and_come_first() -> None:
    def with_cc(cc: str, delay: str) -> Facts:
        return {**run(wan=delay), ("traffic bulk", "congestion control"): Fact(cc, cc)}

    assert labels(with_cc("reno", "1 ms"), with_cc("cubic", "2 ms"), with_cc("cubic", "1 ms")) == [
        "cc=reno, delay=1 ms",
        "cc=cubic, delay=2 ms",
        "cc=cubic, delay=1 ms",
    ]
    assert algorithms(with_cc("reno", "1 ms")) == "reno"
    # Pings have none.
    ping = {("traffic probe", "congestion control"): Fact("-", "null")}
    assert algorithms({**with_cc("reno", "1 ms"), **ping}) == "reno"
    assert algorithms(ping) is None
    assert algorithms(run(wan="1 ms")) is None


def test_the_seed_is_named_where_nothing_else_differs() -> None:
    found = parameters([run(wan="1 ms"), run(wan="1 ms"), run(wan="2 ms")])
    seeds = Parameter("seed", ("1", "2", "1"))
    assert names(found, 3, further=[seeds]) == ["delay=1 ms, seed=1", "delay=1 ms, seed=2", "delay=2 ms"]


def test_the_only_run_needs_no_name() -> None:
    assert (labels(run(wan="1 ms")), labels()) == ([""], [])


@given(
    st.lists(st.tuples(*[st.sampled_from(("1 ms", "2 ms"))] * 4), min_size=1, max_size=12),
    st.integers(0, 3),
)
def test_no_two_runs_have_one_name(delays: Sequence[tuple[str, ...]], seeds: int) -> None:
    runs = [run(**dict(zip("abcd", each, strict=True))) for each in delays]
    seed = Parameter("seed", tuple(str(place % (seeds + 1)) for place in range(len(runs))))
    found = names(parameters(runs), len(runs), further=[seed])
    assert len(set(found)) == len(runs)
