"""Saved outputs say the same whichever program wrote them."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul.analysis.paths import map_paths
from longhaul.analysis.traces import Trace
from longhaul.errors import LonghaulError
from longhaul.traces.paths.draft import Written, draft
from longhaul.traces.paths.lines import Output
from longhaul.traces.paths.outputs import read_output, read_saved

from . import outputs


def read(text: str, *, source: str = "", target: str | None = None) -> list[Trace]:
    return read_output(Output("saved.txt", tuple(text.splitlines()), source, target))


WAYS = ["TRACEROUTE", "NUMERIC", "BSD", "TRACEPATH", "REPORT", "JSON", "RAW"]


@pytest.mark.parametrize("name", WAYS)
def test_every_program_tells_of_the_same_path(name: str) -> None:
    (trace,) = read(getattr(outputs, name))
    assert trace.address == "203.0.113.9"
    assert trace.reached
    foremost = [max(hop.answers, key=lambda each: each.count, default=None) for hop in trace.hops]
    assert [each.address if each else None for each in foremost] == [
        "192.0.2.1", "192.0.2.2", None, "198.51.100.4", "203.0.113.9",
    ]  # fmt: skip
    assert [each.shortest_ns if each else None for each in foremost] == [
        1_000_000, 11_000_000, None, 60_000_000, 41_000_000,
    ]  # fmt: skip
    assert [hop.distance for hop in trace.hops] == [1, 2, 3, 4, 5]


def test_traceroute_says_how_often_each_address_answered_and_what_it_is_called() -> None:
    (trace,) = read(outputs.TRACEROUTE)
    first, second = trace.hops[1].answers
    assert (first.address, first.count, first.mean_ns) == ("192.0.2.2", 2, 11_200_000)
    assert (second.address, second.count, second.name) == ("192.0.2.3", 1, "core-2.example")
    assert trace.hops[3].answers[0].count == 2, "a star is not an answer"
    assert trace.target == "far.example"
    assert trace.pings is None, "stars of traceroute are no loss"


def test_a_path_that_ends_in_a_refusal_is_not_reached_and_says_why() -> None:
    (trace,) = read(outputs.REFUSED)
    assert not trace.reached
    assert trace.notes == ("192.0.2.2 says: host unreachable",)


def test_addresses_of_ipv6_are_the_same_however_they_are_written() -> None:
    (trace,) = read(outputs.SIX)
    assert trace.reached
    assert trace.hops[1].answers[0].address == trace.address == "2001:db8:9::9"


def test_mtr_counts_what_its_end_lost_and_names_where_it_was() -> None:
    for text in (outputs.REPORT, outputs.JSON):
        (trace,) = read(text)
        assert trace.pings is not None
        assert (trace.pings.sent, trace.pings.received) == (10, 9)
        assert trace.source == "near.example"
        assert trace.hops[1].answers[0].count == 5
    (trace,) = read(outputs.RAW, source="elsewhere")
    assert trace.pings is not None
    assert (trace.pings.sent, trace.pings.received) == (2, 2)
    assert trace.source == "elsewhere"
    (cut,) = read(outputs.REPORT.rsplit("  5.|--", 1)[0] + "  5.|-- ???   100.0  10  0.0 0.0 0.0 0.0 0.0\n")
    assert not cut.reached
    assert cut.pings is None, "routers' silence is not loss"


def test_tracepath_tells_the_path_mtu() -> None:
    (trace,) = read(outputs.TRACEPATH)
    assert "path MTU 1400" in trace.notes
    short = outputs.TRACEPATH.rsplit(" 5:", 1)[0]
    (cut,) = read(short, target="far.example")
    assert (cut.target, cut.address, cut.reached) == ("far.example", None, False)


@pytest.mark.parametrize(
    ("name", "counts", "shortest_ns", "mean_ns"),
    [
        ("PING", (4, 3), 41_000_000, (41.0 + 41.3 + 41.2) / 3 * 1e6),
        ("PING_QUIET_SIX", (10, 10), 41_000_000, 41_166_000),
        ("PING_BSD", (2, 1), 41_000_000, 41_000_000),
    ],
)
def test_ping_tells_loss_and_round_trips(
    name: str, counts: tuple[int, int], shortest_ns: int, mean_ns: float
) -> None:
    (trace,) = read(getattr(outputs, name))
    assert trace.target == "far.example"
    pings = trace.pings
    assert pings is not None
    assert (pings.sent, pings.received) == counts
    assert pings.answers is not None
    assert pings.answers.shortest_ns == shortest_ns
    assert pings.answers.mean_ns == pytest.approx(mean_ns)


def test_a_ping_without_answers_has_no_round_trip() -> None:
    (trace,) = read(outputs.PING_DEAD)
    assert trace.pings is not None
    assert (trace.pings.sent, trace.pings.received, trace.pings.answers) == (3, 0, None)


def test_outputs_one_after_another_are_all_read() -> None:
    traces = read(outputs.TRACEROUTE + "\n" + outputs.PING + outputs.REFUSED + outputs.REPORT)
    assert [trace.target for trace in traces] == ["far.example", "far.example", "203.0.113.9", "far.example"]


def test_a_place_may_be_named_before_its_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(outputs.NUMERIC)
    assert read_saved(str(path))[0].source == "here"
    assert read_saved(f"paris={path}")[0].source == "paris"
    strange = tmp_path / "a=b.txt"
    strange.write_text(outputs.NUMERIC)
    assert read_saved(str(strange))[0].source == "here"


WRONG = {
    "empty": ("", ": no output of a program that is known; save what traceroute, tracepath"),
    "prose": ("Dear all,\nhere is my trace\n", ": no output of a program that is known; save what"),
    "cut off": (outputs.TRACEROUTE.splitlines()[0], ":1: no hop follows; the output may be cut off"),
    "no hop": (
        outputs.NUMERIC.replace(" 3  *", "x 3  *"),
        ':4: "x 3  * * *" is not a hop of traceroute; cut the',
    ),
    "no time": (
        outputs.NUMERIC.replace("1.200 ms", "fast ms", 1),
        ':2: "fast" is not a round trip in ms; write it',
    ),
    "negative": (
        outputs.NUMERIC.replace("1.200", "-1.2", 1),
        ':2: "-1.2" is not a round trip in ms; write it as',
    ),
    "nobody": (
        outputs.NUMERIC.replace("192.0.2.1  ", ""),
        ":2: no address precedes 1.000 ms; write the address",
    ),
    "no address": (outputs.NUMERIC.replace("192.0.2.1 ", "gw "), ':2: "gw" is neither an address nor a time'),
    "bad target": (
        outputs.NUMERIC.replace("(203.0.113.9)", "(nowhere)"),
        ':1: "nowhere" is not an address; write',
    ),
    "figures": (
        outputs.REPORT.replace("1.2   0.1", "1.2", 1),
        ":3: 4 figures where the head has 5; write it",
    ),
    "fields": (
        outputs.REPORT.replace("Best", "Jttr"),
        ":3: has no Avg and Best; leave mtr's fields as they are",
    ),
    "report": (outputs.REPORT + "  6.|--\n", ':9: "6.|--" is not a hop of mtr; cut the file there'),
    "half a report": (outputs.JSON[:300], ":6: not JSON: "),
    "other json": ('{"a": 1}', ":1: not a report of mtr: KeyError at 'report'; take it by mtr --json"),
    "raw": (outputs.RAW + "z\n", ':22: "z" is not a line of mtr --raw; cut the file there'),
    "silence": (
        outputs.REPORT.splitlines()[1] + "\n  1.|-- ???  100.0 10 0.0 0.0 0.0 0.0 0.0",
        ": nothing answered",
    ),
    "no summary": (
        outputs.PING.partition("---")[0],
        ":6: the summary of ping is missing; let it end, by -c 10",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_outputs_get_one_error_with_the_line_and_a_remedy(name: str) -> None:
    text, words = WRONG[name]
    with pytest.raises(LonghaulError) as caught:
        read(text)
    assert str(caught.value).startswith("saved.txt:")
    assert words in str(caught.value)
    assert "; " in str(caught.value)
    assert caught.value.exit_code == 2


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="no such file or directory; name a file that can be read"):
        read_saved(str(tmp_path / "absent.txt"))
    binary = tmp_path / "trace.pcap"
    binary.write_bytes(b"\xd4\xc3\xb2\xa1\0\0")
    with pytest.raises(LonghaulError, match="is not text; save what the program prints"):
        read_saved(str(binary))


DAMAGE = st.tuples(st.sampled_from([*WAYS, "SIX", "REFUSED", "PING"]), st.data())


@settings(max_examples=300)
@given(DAMAGE)
def test_damaged_outputs_are_read_or_refused(damage: tuple[str, st.DataObject]) -> None:
    name, data = damage
    text = getattr(outputs, name)
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 30)))
    patch = data.draw(st.text(alphabet=" .-*()!|:0123456789ab\n\t\u0663", max_size=6))
    try:
        traces = read(text[:begin] + patch + text[end:])
    except LonghaulError:
        return
    with suppress(LonghaulError):
        draft(map_paths(traces), Written())
