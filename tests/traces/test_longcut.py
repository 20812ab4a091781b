"""The built-in Longcut set: the numbers of the paper, and what it says of them."""

import statistics
from importlib.resources import files

import pytest

from longhaul.scenario.traces import Trace, builtin
from longhaul.scenario.traces.files import read_traces

HOSTS = ("benedict", "clustis", "psgw", "roadrunner", "vvgw")
WIDE = [(a, b) for a in HOSTS for b in HOSTS if a != b and {a, b} != {"psgw", "vvgw"}]


def known(trace: Trace, column: str) -> list[float]:
    return [value for value in trace.columns[column] if value is not None]


def test_every_table_has_every_link() -> None:
    pairs = {(a, b) for a in HOSTS for b in HOSTS if a != b}
    for kind in ("nws", "eventspace", "constant"):
        assert set(builtin.figures_of(kind)) == pairs, kind
    assert set(builtin.figures_of("collective")) == {
        ("benedict", "psgw"),
        ("benedict", "roadrunner"),
        ("psgw", "roadrunner"),
        ("roadrunner", "psgw"),
    }


@pytest.mark.parametrize(
    ("kind", "pair", "rtt_ms", "rate_mbit"),
    [
        # Tables I and II, rows are sources: first, last, and the four with the widest differences.
        ("nws", ("benedict", "clustis"), 22.43, 3.15),
        ("nws", ("vvgw", "roadrunner"), 32.82, 2.56),
        ("nws", ("clustis", "psgw"), 17.88, 5.57),
        ("nws", ("psgw", "clustis"), 15.03, 4.85),
        ("nws", ("psgw", "vvgw"), 0.31, 81.73),
        ("nws", ("vvgw", "psgw"), 0.54, 79.64),
        # Tables IV and V.
        ("constant", ("benedict", "roadrunner"), 12.70, 10.60),
        ("constant", ("roadrunner", "benedict"), 9.85, 10.08),
        ("constant", ("clustis", "roadrunner"), 23.87, 6.76),
        ("constant", ("psgw", "vvgw"), 1.81, 44.49),
        ("constant", ("vvgw", "clustis"), 15.00, 12.79),
        # Table III.
        ("collective", ("roadrunner", "psgw"), 32.35, None),
    ],
)
def test_known_entries(kind: str, pair: tuple[str, str], rtt_ms: float, rate_mbit: float | None) -> None:
    figures = builtin.figures_of(kind)[pair]
    assert (figures.rtt_ms, figures.rate_mbit) == (rtt_ms, rate_mbit)


def test_deviations_of_tables_iv_and_v() -> None:
    drawn = builtin.figures_of("eventspace")
    assert (drawn["benedict", "roadrunner"].rtt_sd_ms, drawn["benedict", "roadrunner"].rate_sd_mbit) == (
        27.03,
        3.22,
    )
    assert (drawn["vvgw", "psgw"].rtt_sd_ms, drawn["vvgw", "psgw"].rate_sd_mbit) == (1.34, 9.68)


def test_sums_of_the_columns_as_added_by_hand() -> None:
    # Each table added up over its 20 entries, so that no digit can change unseen.
    nws, means = builtin.figures_of("nws"), builtin.figures_of("constant")
    drawn = builtin.figures_of("eventspace")
    sums = [
        sum(each.rtt_ms or 0 for each in nws.values()),
        sum(each.rate_mbit or 0 for each in nws.values()),
        sum(each.rtt_ms or 0 for each in means.values()),
        sum(each.rtt_sd_ms for each in drawn.values()),
        sum(each.rate_mbit or 0 for each in means.values()),
        sum(each.rate_sd_mbit for each in drawn.values()),
    ]
    assert sums == pytest.approx([440.34, 228.52, 465.80, 152.74, 222.29, 41.92], rel=1e-12)


def test_latency_is_nearly_symmetric_and_psgw_clustis_the_widest_exception() -> None:
    nws = builtin.figures_of("nws")
    apart = {pair: abs((nws[pair].rtt_ms or 0) - (nws[pair[::-1]].rtt_ms or 0)) for pair in WIDE}
    widest = max(apart, key=lambda pair: apart[pair])
    assert set(widest) == {"psgw", "clustis"}
    assert apart[widest] == pytest.approx(17.88 - 15.03)
    rest = [gap for pair, gap in apart.items() if set(pair) != {"psgw", "clustis"}]
    assert max(rest) < 1.0


def test_eventspace_saw_more_bandwidth_but_within_tromso() -> None:
    nws, measured = builtin.figures_of("nws"), builtin.figures_of("constant")
    less = {pair for pair in nws if (measured[pair].rate_mbit or 0) < (nws[pair].rate_mbit or 0)}
    assert less == {("psgw", "vvgw"), ("vvgw", "psgw")}


def test_drawn_series_have_the_means_and_deviations_of_the_tables() -> None:
    figures = builtin.figures_of("eventspace")
    for trace in builtin.traces_of("longcut:eventspace"):
        assert trace.way is not None
        wanted = figures[trace.way.ends]
        rtt, rate = known(trace, "rtt_ms"), known(trace, "rate_mbit")
        assert len(rtt) == len(rate) == 600
        # Balanced draws: 600 values miss the tail of the rarest spikes, and nothing else.
        assert statistics.fmean(rtt) == pytest.approx(wanted.rtt_ms, rel=0.015)
        assert statistics.stdev(rtt) == pytest.approx(wanted.rtt_sd_ms, rel=0.2)
        assert statistics.fmean(rate) == pytest.approx(wanted.rate_mbit, rel=0.002)
        assert statistics.stdev(rate) == pytest.approx(wanted.rate_sd_mbit, rel=0.02)
        assert min(rtt) >= wanted.floor_ms


def test_a_link_of_a_set_is_the_same_as_in_the_whole_set() -> None:
    whole = {trace.way.ends: trace for trace in read_traces("longcut:eventspace").traces if trace.way}
    assert read_traces("longcut:eventspace/clustis-psgw").traces == (whole["clustis", "psgw"],)


def test_provenance_says_what_is_missing() -> None:
    text = builtin.provenance_of("longcut")
    assert "Table VI" in text
    for entry in (files("longhaul") / "traces" / "longcut").iterdir():
        assert entry.name in text or entry.name == "provenance.md"
