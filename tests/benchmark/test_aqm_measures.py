"""Measures of queue disciplines: simulated runs against arithmetic, made-up packets with known answers."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from longhaul.benchmark.aqm.case import Change, QueueCase
from longhaul.benchmark.aqm.cases import SCENARIOS, DisciplineCase, Source
from longhaul.benchmark.aqm.measures import MEASURES, OF_KIND, measure
from longhaul.benchmark.suite import Size
from longhaul.benchmark.trials import Trial, perform

RATE, DATAGRAM_BYTES = 10e6, 1476
"""Of the congested link, and datagrams of 1448 bytes with their headers."""
CASES = {case.name: case for scenario in SCENARIOS for case in scenario.cases(Size(None, False))}


@cache
def simulated(name: str, queue: str) -> dict[str, float | None]:
    """Measures of one simulated run of a case of the suite."""
    return measured(CASES[name], queue)


def measured(chosen: QueueCase, queue: str) -> dict[str, float | None]:
    """Measures of one simulated run."""
    with TemporaryDirectory() as place:
        outcome = perform(Trial(chosen, queue, None, "sim", 0, 1), place=Path(place), keep=False)
    assert outcome.measured is not None, outcome.error
    return dict(outcome.measured.values)


@pytest.mark.parametrize(
    ("queue", "packets"), [("fifo", 83), ("fifo,limit=0.5bdp", 42), ("fifo,limit=20p", 20)]
)
def test_datagrams_above_capacity_wait_for_the_whole_buffer(queue, packets):
    found = simulated("unresponsive alone", queue)
    send_s = DATAGRAM_BYTES * 8 / RATE
    # An accepted packet takes the last place: the packets before it, and the rest of the one being sent.
    assert (packets - 1) * send_s <= found["queue_mean"] <= packets * send_s
    assert found["queue_p99"] <= packets * send_s * (1 + 1e-9)
    assert found["utilisation"] == pytest.approx(1, abs=1e-3)
    assert found["goodput"] == pytest.approx(RATE * 1448 / DATAGRAM_BYTES, rel=1e-3)
    offered = 12e6 * DATAGRAM_BYTES / 1448
    assert found["loss"] == pytest.approx(1 - RATE / offered, abs=2e-3)


def test_codel_has_a_fifth_of_the_delay_of_a_fifo_at_the_same_goodput():
    """K. Nichols, V. Jacobson, "Controlling queue delay", ACM Queue 10(5), 2012: short queues at full use."""
    fifo, codel = (simulated("congestion medium", queue) for queue in ("fifo", "codel"))
    assert fifo["queue_mean"] > 5 * codel["queue_mean"]
    assert codel["goodput"] == pytest.approx(fifo["goodput"], rel=0.03)


def test_pie_holds_its_target_under_load():
    """RFC 8033, section 4.2: the drop probability settles where the delay is that of the target, 15 ms."""
    found = simulated("congestion heavy", "pie")
    assert found["queue_mean"] == pytest.approx(0.015, rel=0.15)
    assert found["goodput"] > 0.98 * RATE * 1448 / 1500


def test_a_larger_target_of_codel_is_a_longer_queue():
    five, twenty = (simulated("congestion mild", queue) for queue in ("codel", "codel,target=20ms"))
    assert five["queue_mean"] < twenty["queue_mean"] < 0.03


def test_fair_queues_take_from_datagrams_what_a_fifo_gives_them():
    """Max-min fairness: datagrams of 7 of 10 Mbit/s keep at least half (Demers, Keshav, Shenker 1989)."""
    fifo, *fair = (simulated("unresponsive beside TCP", each) for each in ("fifo", "drr", "fq-codel"))
    rest = (RATE - 7e6 * DATAGRAM_BYTES / 1448) * 1448 / 1500
    assert fifo["tcp_goodput"] == pytest.approx(rest, rel=0.03)
    assert fifo["udp_loss"] < 0.01
    half = RATE / 2 * 1448 / DATAGRAM_BYTES
    for found in fair:
        assert half * 0.99 <= found["udp_goodput"] < 6.5e6
        assert 1.25 * fifo["tcp_goodput"] < found["tcp_goodput"] < RATE / 2 * 1448 / 1500 * 1.01


def test_short_queues_make_a_background_transport_as_strong_as_tcp():
    """Behind a FIFO the transport yields; CoDel removes the delay to which it yields.

    Y. Gong et al., "Fighting the bufferbloat", Computer Networks 65 (2014).
    """
    fifo, codel = (simulated("background", queue) for queue in ("fifo", "codel"))
    assert fifo["background_goodput"] < 0.15 * fifo["tcp_goodput"]
    assert codel["background_goodput"] > 0.6 * codel["tcp_goodput"]


def test_a_larger_initial_window_completes_40_packets_sooner():
    """Slow start without loss (RFC 5681): 3, 6, 12, 24 segments take four round trips; 10, 20, 40 three."""
    three, ten = (simulated(f"initial-window {window} packets", "fq-codel") for window in (3, 10))
    # Each begins with a handshake of one round trip, which is the start-up time, too.
    assert ten["startup"] == pytest.approx(0.1, abs=0.02)
    assert 0.4 <= ten["fct_p50"] < 0.5 <= three["fct_p50"] < 0.6


def test_the_shorter_round_trip_gets_more_behind_a_fifo():
    found = simulated("rtt-fairness 20 ms", "fifo")
    assert found["two_goodput"] > found["one_goodput"]
    assert found["ratio"] == pytest.approx(found["two_goodput"] / found["one_goodput"])


def test_after_a_fall_of_the_capacity_a_fifo_delays_by_buffer_over_rate():
    fallen = replace(
        CASES["varying-capacity slow"],
        bits_per_s=20_000_000,
        changes=(Change(3.0, 2_000_000),),
        to_s=8.0,
        event_s=3.0,
    )
    # A buffer of 167 packets of 1500 bytes, at 2 Mbit/s.
    assert fallen.product_packets == 167
    full_s = 167 * 12_000 / 2e6
    # It was nearly full when the capacity fell, and fills up in a round trip.
    assert 0.95 * full_s < measured(fallen, "fifo")["queue_max"] < 1.005 * full_s


class Made:
    """A run directory with packets that a test lists."""

    def __init__(self, place: Path, case: QueueCase) -> None:
        """Prepare one."""
        self.place, self.case = place, case
        self.rows: list[tuple[str, int, int | None, int, str, str]] = []
        self.transfers: list[tuple[str, int, int | None]] = []

    def packet(
        self, flow: str, at_ms: float, wait_ms: float | None = 0.0, *, size=1500, way="forward"
    ) -> None:
        """A packet of ``flow``; lost if it does not wait."""
        delay_ns = None if wait_ms is None else round((1 + wait_ms) * 1e6 + size * 8e9 / RATE)
        fate = "overflowed" if wait_ms is None else "delivered"
        self.rows.append((way, round(at_ms * 1e6), delay_ns, size, fate, flow))

    def values(self) -> dict[str, float | None]:
        """What is measured of it."""
        rows = sorted(self.rows, key=lambda row: row[1])
        way, arrival, delay, size, fate, flow = zip(*rows, strict=True)
        departure = [
            None if each is None else begin + each for begin, each in zip(arrival, delay, strict=True)
        ]
        columns = {
            "link": ["central"] * len(rows), "way": way, "arrival_ns": arrival, "departure_ns": departure,
            "delay_ns": delay, "bytes": size, "fate": fate, "flow": flow,
        }  # fmt: skip
        pq.write_table(pa.table(columns), self.place / "packets.parquet")
        name, start, took = zip(*self.transfers, strict=True) if self.transfers else ((), (), ())
        requests = {"name": name, "start_ns": start, "took_ns": pa.array(took, pa.int64())}
        pq.write_table(pa.table(requests), self.place / "requests.parquet")
        nodes = [{"name": "s-tcp", "ipv4": "10.1.0.1"}, {"name": "d-tcp", "ipv4": "10.2.0.1"}]
        (self.place / "plan.json").write_text(json.dumps({"nodes": nodes}))
        summary = {"fidelity": {"verdict": "faithful"}}
        return dict(measure(self.case, self.place, summary, stopped=0.0).values)


def case(kind: str, *sources: Source, **others) -> DisciplineCase:
    return DisciplineCase(
        scenario="made", label="", kind=kind, sources=sources, bits_per_s=int(RATE), scale=1.0,
        from_s=0.0, to_s=10.0, rtt_s=0.1, **others,
    )  # fmt: skip


TCP = {"kind": "tcp", "cc": "reno"}
UDP = {"kind": "udp", "rate": "1Mbit"}


def test_delay_loss_and_goodput_are_those_of_the_packets(tmp_path):
    made = Made(tmp_path, case("single", Source("tcp", (TCP,))))
    for number in range(100):
        # Waits of 0 to 89 ms, and ten packets in a row that are lost.
        made.packet("tcp.0", 10 * number, number if number < 90 else None)
    found = made.values()
    assert found["queue_mean"] == pytest.approx(0.0445)
    assert found["queue_p99"] == pytest.approx(0.08811)
    assert (found["loss"], found["loss_burst"]) == (0.1, 10)
    assert found["utilisation"] == pytest.approx(90 * 12_000 / (RATE * 10))
    assert found["goodput"] == pytest.approx(90 * 1448 * 8 / 10)


def test_streams_that_lose_in_turn_are_not_synchronised_and_acknowledgements_are_of_no_class(tmp_path):
    made = Made(tmp_path, case("load", Source("tcp", (TCP, TCP))))
    for number in range(400):
        made.packet(f"tcp-{number % 2 + 1}.0", 10 * number, None if number in (100, 201) else 5)
        made.packet(f"tcp-{number % 2 + 1}.0 back", 10 * number, 0, size=52, way="reverse")
    found = made.values()
    assert (found["sync"], found["jain"]) == (0.5, pytest.approx(1))
    assert found["queue_sd"] == pytest.approx(0, abs=1e-9)


def test_live_flows_are_those_of_the_senders_address(tmp_path):
    made = Made(tmp_path, case("load", Source("tcp", (TCP, TCP))))
    for number in range(200):
        port = 40_000 + number % 2
        made.packet(f"tcp 10.1.0.1:{port} > 10.2.0.1:5201", 10 * number, None if number in (100, 101) else 5)
    # The control connection of iperf3 is not a third flow.
    made.packet("tcp 10.1.0.1:39999 > 10.2.0.1:5201", 5, 1, size=100)
    assert made.values()["sync"] == 1


def test_a_frame_is_damaged_however_many_packets_it_loses(tmp_path):
    video = Source("video", (UDP,))
    made = Made(
        tmp_path, case("frames", video, Source("cbr", (UDP,)), Source("web", ({"kind": "requests"},)))
    )
    for frame in range(20):
        for number in range(8):
            lost = (frame == 3 and number < 5) or (frame == 7 and number == 7)
            made.packet("video.0", 40 * frame + 0.1 * number, None if lost else 1, size=1278)
    for number in range(100):
        made.packet("cbr.0", 10 * number, 2 + (number == 50) * 30)
    made.packet("web.0", 100, 0, size=60)
    made.packet("web.0", 300, 0)
    made.packet("web.1", 400, None, size=60)
    made.packet("web.1", 1400, 0, size=60)
    made.packet("web.1", 1500, 0)
    made.transfers = [
        ("web", 90_000_000, 400_000_000),
        ("web", 390_000_000, 1_400_000_000),
        ("web", 5 * 10**9, None),
    ]
    found = made.values()
    assert found["frames"] == 2 / 20
    # 99 waits of 2 ms and one of 32: the 99 % quantile lies 1 % of the way between them.
    assert found["cbr_delay"] == pytest.approx(0.0023)
    assert found["cbr_jitter"] == pytest.approx(0.01 * 0.03, abs=1e-5)
    # A SYN that is lost costs a second: 200 ms and 1100 ms.
    assert found["startup"] == pytest.approx(0.65)
    # The transfer that has not completed has had five seconds.
    assert found["fct_p50"] == pytest.approx(1.4)
    assert found["fct_p95"] == pytest.approx(1.4 + 0.9 * 3.6)


def test_small_packets_are_counted_in_both_directions(tmp_path):
    made = Made(tmp_path, case("both-ways", Source("tcp", (TCP,)), Source("back", (TCP,), back=True)))
    for number in range(100):
        made.packet("tcp.0", 10 * number, 1)
        made.packet("tcp.0 back", 10 * number, None if number < 3 else 2, size=52, way="reverse")
        made.packet("back.0", 10 * number, 4, way="reverse")
        made.packet("back.0 back", 10 * number, None if number < 1 else 2, size=52)
    found = made.values()
    assert found["small_loss"] == pytest.approx(4 / 200)
    assert found["back_queue"] == pytest.approx((100 * 4 + 97 * 2) / 197 / 1000)


def test_utilisation_follows_the_rate_of_the_link(tmp_path):
    changed = case("varying", Source("tcp", (TCP,)), changes=(Change(4.0, 1_000_000),), event_s=4.0)
    made = Made(tmp_path, changed)
    for number in range(500):
        made.packet("tcp.0", 20 * number, 7 if number < 200 else 9)
    found = made.values()
    assert found["utilisation"] == pytest.approx(500 * 12_000 / (4 * RATE + 6e6), rel=0.01)
    assert found["queue_max"] == pytest.approx(0.009)


def test_every_measure_belongs_to_a_kind():
    assert {name for names in OF_KIND.values() for name in names} == set(MEASURES)
