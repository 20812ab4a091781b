"""The same trace in several forms: CSV, Parquet, mahimahi."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.traces import Trace, Way
from longhaul.scenario.traces.files import read_traces, write_traces
from longhaul.scenario.traces.opportunities import text_of_opportunities

VALUES = st.floats(min_value=1e-6, max_value=1e5)
HOSTS = st.sampled_from(["par", "nyc.example.org", "10.0.0.1", "tromsø"])


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    count = draw(st.integers(1, 12))
    steps = draw(st.lists(st.integers(1, 10**12), min_size=count, max_size=count))
    # Times are whole nanoseconds, as those of links.
    times = tuple(sum(steps[: place + 1]) / 1e9 for place in range(count))
    columns = {}
    for name in draw(st.sets(st.sampled_from(["rtt_ms", "delay_ms", "rate_mbit"]), min_size=1)):
        column = draw(st.lists(st.none() | VALUES, min_size=count, max_size=count))
        columns[name] = (*column[:-1], draw(VALUES))
    return Trace(
        times, {name: columns[name] for name in ("rtt_ms", "delay_ms", "rate_mbit") if name in columns}
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(traces(), min_size=1, max_size=3), st.sampled_from([None, "nws"]), st.sampled_from([None, 0.1])
)
def test_nothing_is_lost_from_csv_to_parquet_to_csv(
    many: list[Trace], tool: str | None, period_s: float | None
) -> None:
    named = tuple(
        Trace(each.times_s, each.columns, Way(f"h{place}", "tromsø", tool, period_s))
        for place, each in enumerate(many)
    )
    with TemporaryDirectory() as folder:
        for first, second in (("a.csv", "b.parquet"), ("c.parquet", "d.csv")):
            write_traces(Path(folder, first), named)
            write_traces(Path(folder, second), read_traces(str(Path(folder, first))).traces)
            assert read_traces(str(Path(folder, second))).traces == named


def test_a_rate_becomes_packets_of_1500_bytes_and_a_rate_again(tmp_path: Path) -> None:
    # 12 Mbit/s are a packet a millisecond, 6 Mbit/s one each two; 0 for a second is none.
    trace = Trace((0.0, 1.0, 2.0, 3.0), {"rate_mbit": (12.0, 6.0, 0.0, 24.0)})
    text = text_of_opportunities(trace)
    times = [int(line) for line in text.split()]
    assert times[:3] == [1, 2, 3]
    assert times[999:1002] == [1000, 1002, 1004]
    assert (len(times), times[-1]) == (1000 + 500 + 2000, 4000)
    (tmp_path / "w.up").write_text(text, encoding="utf-8")
    (back,) = read_traces(str(tmp_path / "w.up"), bin_s=1.0).traces
    assert back == trace


def test_the_period_of_opportunities_is_the_span_of_the_trace() -> None:
    # 1 Mbit/s for 2.5 s are 208.3 packets: the last of 208 goes at the end, a third of one is lost.
    times = text_of_opportunities(Trace((0.0, 1.0, 1.5), {"rate_mbit": (1.0, None, 1.0)})).split()
    assert (len(times), times[-1]) == (166, "2000")
    times = text_of_opportunities(Trace((0.0, 1.25), {"rate_mbit": (1.0, 1.0)})).split()
    assert (len(times), times[-1]) == (208, "2500")


def test_a_last_bin_that_is_cut_counts_by_its_length(tmp_path: Path) -> None:
    (tmp_path / "w.down").write_text("".join(f"{at}\n" for at in range(1, 1501)), encoding="utf-8")
    (trace,) = read_traces(str(tmp_path / "w.down"), bin_s=1.0).traces
    assert trace == Trace((0.0, 1.0), {"rate_mbit": (12.0, 12.0)})


def test_a_link_makes_the_same_mean_of_a_trace_and_of_its_opportunities(tmp_path: Path) -> None:
    trace = Trace((0.0, 2.0, 4.0), {"rate_mbit": (3.0, 9.0, 6.0)})
    write_traces(tmp_path / "r.csv", (trace,))
    write_traces(tmp_path / "r.up", (trace,))
    text = "version: 1\nname: t\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\nlinks:\n"
    text += (
        "  w: {endpoints: [a, b], forward: {rate: {trace: r.csv}}, reverse: {rate: {opportunities: r.up}}}\n"
    )
    resolved = resolve(parse_scenario(text.encode(), name="t.yaml", folder=tmp_path))
    from longhaul.scenario.show.describe import describe

    (link,) = describe(resolved)["links"]
    # One packet in 6 s is what rounding may take.
    assert link["forward"]["bits_per_s"] == 6_000_000
    assert link["reverse"]["bits_per_s"] == pytest.approx(6_000_000, abs=12_000 / 6)


def test_what_has_no_rate_or_too_little_has_no_opportunities() -> None:
    with pytest.raises(LonghaulError, match="without rate has no opportunities"):
        text_of_opportunities(Trace((0.0,), {"rtt_ms": (5.0,)}))
    with pytest.raises(LonghaulError, match="too short or too slow for one packet"):
        text_of_opportunities(Trace((0.0, 0.001), {"rate_mbit": (1.0, 1.0)}))


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    trace = Trace((0.0,), {"rtt_ms": (5.0,)})
    write_traces(tmp_path / "t.csv", (trace,))
    with pytest.raises(LonghaulError, match="already exists; choose another name, or add --force"):
        write_traces(tmp_path / "t.csv", (trace,))
