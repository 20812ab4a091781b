"""Real packets through the model: what arrives, what does not, and that nothing vanishes."""

import re
from math import sqrt
from typing import Any

import pytest

from longhaul.calibrate import plans
from longhaul.calibrate.probe import Measured, measure

FATES = (
    "delivered",
    "lost",
    "overflowed",
    "dropped",
    "down",
    "no_route",
    "ttl_expired",
    "too_big",
    "answered",
    "pacer_dropped",
    "filtered",
    "looped",
    "held",
)


def conserved(run: Measured) -> bool:
    packets = run.engine["packets"]
    begun = packets["injected"] + packets["copied"] + packets["replies"]
    return begun == sum(packets[fate] for fate in FATES)


def forward(run: Measured, link: int = 0) -> dict[str, Any]:
    direction: dict[str, Any] = run.engine["links"][link]["forward"]
    return direction


def test_a_ping_takes_twice_the_delay() -> None:
    run = measure(plans.pair(delay_ns=5_000_000, programs=[plans.ping(count=50, interval_s=0.01)]))
    assert min(run.rtts_s()) >= 10e-3
    assert len(run.rtts_s()) == 50
    assert forward(run)["wire_delay_mean_ns"] == 5_000_000
    assert conserved(run)
    assert run.drops() == {}


def test_no_packet_leaves_before_it_is_due() -> None:
    run = measure(plans.pair(delay_ns=500_000, programs=[plans.ping(count=200, interval_s=0.002)]))
    assert min(run.rtts_s()) >= 1e-3


@pytest.mark.parametrize("size", [8972, 1472])
def test_jumbo_packets_pass_unfragmented_where_the_mtu_allows(size: int) -> None:
    ping = plans.program(
        "ping", 0, ["ping", "-n", "-M", "do", "-c", "3", "-i", "0.01", "-s", str(size), "10.0.0.2"]
    )
    run = measure(plans.pair(mtu=9000, programs=[ping]))
    assert len(run.rtts_s()) == 3
    assert forward(run)["offered_bytes"] == 3 * (size + 28)


def test_ipv6_is_emulated_like_ipv4() -> None:
    ping = plans.program("ping", 0, ["ping", "-n", "-6", "-c", "5", "-i", "0.01", "fd00::2"])
    run = measure(plans.pair(delay_ns=3_000_000, programs=[ping]))
    assert len(run.rtts_s()) == 5
    assert min(run.rtts_s()) >= 6e-3


@pytest.mark.parametrize(
    ("option", "first", "last"), [("-4", "10.0.1.1", "10.0.0.2"), ("-6", "fd00::1:1", "fd00::2")]
)
def test_traceroute_sees_each_model_router(option: str, first: str, last: str) -> None:
    plan = plans.chain(3)
    plan["programs"] = [plans.program("trace", 0, ["traceroute", option, "-n", "-q", "1", last])]
    lines = measure(plan).logs["trace"].splitlines()[1:]
    hops = [line.split()[1] for line in lines]
    assert hops == [first, first[:-1] + "2", first[:-1] + "3", last]


def test_path_mtu_discovery_finds_the_narrow_link() -> None:
    plan = plans.chain(2, mtus=[1500, 1400, 1500])
    plan["programs"] = [plans.program("trace", 0, ["tracepath", "-n", "10.0.0.2"])]
    run = measure(plan)
    assert "pmtu 1400" in run.logs["trace"]
    assert run.engine["packets"]["too_big"] >= 1
    assert conserved(run)


def test_tcp_crosses_a_narrow_link() -> None:
    plan = plans.chain(2, mtus=[1500, 1400, 1500], delay_ns=100_000)
    plan["programs"] = plans.tcp(seconds=1)
    run = measure(plan)
    assert run.goodput() > 1e6
    assert conserved(run)


def test_a_model_router_answers_pings() -> None:
    plan = plans.chain(1)
    plan["programs"] = [plans.program("ping", 0, ["ping", "-n", "-c", "3", "-i", "0.01", "10.0.1.1"])]
    run = measure(plan)
    assert len(run.rtts_s()) == 3
    assert run.engine["packets"]["answered"] == 3


def test_an_address_that_nobody_has_is_unreachable() -> None:
    plan = plans.chain(1)
    plan["programs"] = [plans.program("ping", 0, ["ping", "-n", "-c", "1", "10.77.0.1"], expect_exit=1)]
    run = measure(plan)
    assert "Unreachable" in run.logs["ping"]
    assert run.engine["packets"]["no_route"] == 1


def test_loss_under_full_speed_tcp_is_exact_per_segment() -> None:
    share = 0.001
    run = measure(plans.pair(loss=share, programs=plans.tcp(seconds=2)))
    offered, lost = forward(run)["offered_packets"], forward(run)["lost_packets"]
    assert offered > 10_000
    # Five standard deviations of the binomial distribution.
    assert abs(lost - share * offered) <= 5 * sqrt(offered * share * (1 - share))
    assert conserved(run)


@pytest.mark.parametrize("bits_per_s", [100_000_000, 1_000_000_000])
def test_a_rate_is_exact_by_goodput_arithmetic(bits_per_s: int) -> None:
    run = measure(plans.pair(delay_ns=1_000_000, bits_per_s=bits_per_s, programs=plans.tcp(seconds=3)))
    intervals = [each["sum"]["bits_per_second"] for each in run.iperf()["intervals"][1:]]
    # 1,448 bytes of payload in each packet of 1,500 bytes: 20 IP, 20 TCP, 12 of time stamps.
    expected = bits_per_s * 1448 / 1500
    sent = forward(run)["delivered_packets"] / (run.engine["duration_ns"] / 1e9) * 1500 * 8
    assert sent <= bits_per_s
    assert max(intervals) <= expected * 1.05
    # How near it comes is for the benchmark to say: TCP on a busy machine loses more.
    assert max(intervals) > expected * 0.7


def test_udp_within_capacity_loses_nothing() -> None:
    run = measure(plans.pair(delay_ns=10_000_000, programs=plans.udp(seconds=2, bits_per_s=50_000_000)))
    assert run.iperf()["end"]["sum"]["lost_packets"] == 0
    assert run.drops() == {}


def test_what_exceeds_the_rate_is_counted_as_overflow() -> None:
    plan = plans.pair(
        delay_ns=1_000_000,
        bits_per_s=10_000_000,
        queue_bytes=30_000,
        programs=plans.udp(seconds=2, bits_per_s=20_000_000),
    )
    run = measure(plan)
    missing = run.iperf()["end"]["sum"]["lost_packets"]
    overflowed = forward(run)["overflowed_packets"]
    assert missing > 0
    assert overflowed == pytest.approx(missing, abs=30)
    assert conserved(run)
    assert run.drops() == {}


def test_duplicates_arrive_twice() -> None:
    plan = plans.pair(programs=[plans.ping(count=20, interval_s=0.01)])
    plan["links"][0]["forward"]["duplicate"] = 1.0
    run = measure(plan)
    assert len(re.findall("DUP!", run.logs["ping"])) >= 19
    assert run.engine["packets"]["copied"] == forward(run)["copied_packets"] == 20
    assert conserved(run)


def test_a_change_takes_effect_in_place() -> None:
    plan = plans.pair(delay_ns=1_000_000, programs=[plans.ping(count=60, interval_s=0.01)])
    change = {"up": None, "loss": None, "queue": None, "rate": None, "duplicate": None}
    delay = {"model": "constant", "delay_ns": 21_000_000}
    plan["events"] = [
        {"at_ns": 300_000_000, "link": 0, "direction": "forward", "change": {**change, "delay": delay}}
    ]
    rtts = measure(plan).rtts_s()
    assert len(rtts) == 60
    assert min(rtts[:20]) < 4e-3
    assert all(rtt >= 22e-3 for rtt in rtts[-20:])


def test_a_link_that_is_down_drops_and_says_so() -> None:
    plan = plans.pair(programs=[plans.ping(count=40, interval_s=0.01)])
    plan["programs"][0]["expect_exit"] = None
    change = {"loss": None, "queue": None, "rate": None, "duplicate": None, "delay": None}
    plan["events"] = [
        {"at_ns": 100_000_000, "link": 0, "direction": None, "change": {**change, "up": False}},
        {"at_ns": 250_000_000, "link": 0, "direction": None, "change": {**change, "up": True}},
    ]
    run = measure(plan)
    assert 5 <= run.engine["packets"]["down"] <= 25
    assert len(run.rtts_s()) + run.engine["packets"]["down"] == 40
    assert conserved(run)
