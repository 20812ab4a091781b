"""Real programs and simulated flows on one network: each meets the other where arithmetic says."""

import json
from typing import Any

import pytest

from longhaul import _longhaul
from longhaul.analysis.fidelity import FATES
from longhaul.calibrate import plans
from longhaul.calibrate.probe import Measured, measure

S = 1_000_000_000
CUBIC = {"cc": {"algorithm": "cubic"}}
"""Fields of a flow's traffic that say which congestion control it has."""


def conserved(run: Measured) -> bool:
    packets = run.engine["packets"]
    begun = packets["injected"] + packets["copied"] + packets["replies"]
    return bool(begun == sum(packets[fate] for fate in FATES))


def simulated(name: str, traffic: dict[str, Any], *, start_ns: int = 0, stop_ns: int | None = None) -> Any:
    """A simulated flow from near to far."""
    return {
        "name": name,
        "source": 0,
        "destination": 1,
        "start_ns": start_ns,
        "stop_ns": stop_ns,
        "simulated": True,
        "traffic": traffic,
    }


def udp(bits_per_s: int, *, size: int = 1400, total: int | None = None, **more: Any) -> dict[str, Any]:
    return {"kind": "udp", "bits_per_s": bits_per_s, "payload_bytes": size, "bytes": total, **more}


def tcp(total: int | None = None, **more: Any) -> dict[str, Any]:
    return {"kind": "tcp", "streams": 1, "bytes": total, "bits_per_s": None, **CUBIC, **more}


def flow(run: Measured, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in run.engine["flows"] if each["name"] == name)
    return found


def test_a_real_ping_waits_behind_simulated_datagrams() -> None:
    rate = 10_000_000
    # 35 datagrams at once, and from then on as many bytes as the link takes: the queue stays as long.
    backlog = 35 * 1428
    plan = plans.pair(delay_ns=5_000_000, bits_per_s=rate, queue_bytes=200_000, duration_ns=2 * S)
    plan["programs"] = [
        plans.program("ping", 0, ["ping", "-n", "-c", "20", "-i", "0.05", "10.0.0.2"], start_ns=S // 5)
    ]
    plan["flows"] = [
        simulated("fill", udp(1_000_000_000, total=35 * 1400)),
        simulated("hold", udp(rate * 1400 // 1428)),
    ]
    run = measure(plan)
    rtts = run.rtts_s()
    assert len(rtts) == 20
    wait_s = backlog * 8 / rate
    # A datagram more or less, the pings themselves, and what the machine adds.
    datagram_s = 1428 * 8 / rate
    pings_s = 20 * 84 * 8 / rate
    late = sorted(rtt - (10e-3 + wait_s) for rtt in rtts)
    # None is early; a pause of the machine makes single ones late.
    assert late[0] > -datagram_s
    assert late[len(late) // 2] < datagram_s + pings_s + 2e-3, late
    assert late[len(late) * 3 // 4] < datagram_s + pings_s + 5e-3, late
    assert conserved(run)
    assert run.drops() == {}


def test_simulated_flows_take_what_real_datagrams_leave() -> None:
    rate, real = 20_000_000, 8_000_000
    plan = plans.pair(delay_ns=5_000_000, bits_per_s=rate, duration_ns=7 * S)
    plan["programs"] = plans.udp(seconds=6, bits_per_s=real)
    plan["flows"] = [simulated("bulk", tcp(), start_ns=S, stop_ns=6 * S)]
    run = measure(plan)
    left = (rate - real * 1428 / 1400) * 1448 / 1500
    # CUBIC on a queue of one BDP loses little of its share; the machine's pauses give it some.
    assert flow(run, "bulk")["goodput_bits_per_s"] == pytest.approx(left, rel=0.1)
    assert conserved(run)


def test_a_real_and_a_simulated_cubic_flow_share_a_link() -> None:
    rate = 30_000_000
    plan = plans.pair(delay_ns=10_000_000, bits_per_s=rate, duration_ns=13 * S)
    plan["programs"] = plans.tcp(seconds=12)
    plan["flows"] = [simulated("bulk", tcp(), stop_ns=12 * S)]
    shares: list[float] = []
    # In a drop-tail queue, phases decide which flow loses; a pause of the machine affects the real flow only.
    while len(shares) < 3 and not 0.35 < (shares or [0])[-1] < 0.65:
        run = measure(plan)
        mine, theirs = flow(run, "bulk")["goodput_bits_per_s"], run.goodput()
        assert mine + theirs == pytest.approx(rate * 1448 / 1500, rel=0.08)
        assert conserved(run)
        shares.append(mine / (mine + theirs))
    assert 0.35 < shares[-1] < 0.65, shares


JITTER = {
    "model": "random",
    "base_ns": 3_000_000,
    "jitter": {"dist": "uniform", "low": -5e5, "high": 5e5},
    "correlation": 0.0,
    "mean_ns": 3_000_000,
}


def background() -> plans.Plan:
    """Every kind of simulated traffic, all of which is over before the run."""
    plan = plans.pair(delay_ns=3_000_000, bits_per_s=20_000_000, loss=0.01, duration_ns=2 * S)
    for way in ("forward", "reverse"):
        plan["links"][0][way]["delay"] = JITTER
    gap = {"dist": "exponential", "mean": 2e7}
    plan["flows"] = [
        simulated("bulk", tcp(), stop_ns=S),
        simulated("noise", udp(3_000_000, arrivals="poisson", sizes="exponential"), stop_ns=S),
        simulated("probe", {"kind": "ping", "every_ns": S // 50, "payload_bytes": 56, "count": 40}),
        simulated(
            "web",
            {"kind": "requests", "gap": gap, "size": {"dist": "constant", "value": 9e3}, **CUBIC},
            stop_ns=S // 2,
        ),
    ]
    message = [{"do": "send", "to": 1, "bytes": 50_000}, {"do": "receive", "from": 1, "bytes": 1}]
    answer = [{"do": "receive", "from": 0, "bytes": 50_000}, {"do": "send", "to": 0, "bytes": 1}]
    job = {"name": "pong", "ranks": [0, 1], "start_ns": 0, "repeat": 5, "steps": [message, answer], **CUBIC}
    plan["jobs"] = [job]
    return plan


def test_simulated_flows_do_live_exactly_what_they_do_in_a_simulation() -> None:
    plan = background()
    run = measure(plan)
    simulation = _longhaul.Simulation(json.dumps(plan), directory=None)
    while not simulation.advance(1_000_000):
        pass
    alone = json.loads(simulation.finish())
    for here, there in zip(run.engine["flows"], alone["flows"], strict=True):
        # A ping that got no answer is not done, and takes as long as the run, which live is a bit longer.
        assert {**here, "span_s": None} == {**there, "span_s": None}
    assert run.engine["jobs"] == alone["jobs"]
    assert alone["jobs"][0]["iterations"] == 5
    assert run.engine["links"] == alone["links"]
    assert run.engine["packets"] == alone["packets"]
    assert alone["packets"]["lost"] > 10


def test_a_late_engine_says_so_for_simulated_ends_too() -> None:
    run = measure(background())
    turns = run.engine["simulated"]["lateness"]
    # At least every packet that was delivered gave somebody a turn.
    assert turns["count"] >= run.engine["packets"]["delivered"] / 2 > 100
    assert 0 <= turns["p50_ns"] <= turns["p99_ns"] <= turns["max_ns"]
    assert run.engine["lateness"]["all"]["count"] == 0


def test_a_run_without_duration_waits_for_what_is_simulated_and_ends() -> None:
    plan = plans.pair(delay_ns=1_000_000, bits_per_s=10_000_000)
    total = 500_000
    plan["flows"] = [simulated("bulk", tcp(total)), simulated("rest", udp(1_000_000))]
    run = measure(plan)
    assert flow(run, "bulk")["bytes"] == total
    assert total * 8 / 10e6 < run.engine["duration_ns"] / 1e9 < 5
    assert flow(run, "rest")["received"] > 0


def test_background_without_end_ends_with_the_programs() -> None:
    plan = plans.pair(delay_ns=1_000_000, programs=[plans.ping(count=20, interval_s=0.05)])
    plan["flows"] = [simulated("rest", udp(1_000_000))]
    run = measure(plan)
    assert 0.9 < run.engine["duration_ns"] / 1e9 < 5
    seconds = run.engine["simulated"]["reached_ns"] / 1e9
    datagrams = seconds * 1_000_000 / (8 * 1400)
    assert flow(run, "rest")["sent"] == pytest.approx(datagrams, abs=2)


def test_a_full_queue_drops_of_both_kinds() -> None:
    plan = plans.pair(delay_ns=1_000_000, bits_per_s=10_000_000, queue_bytes=30_000, duration_ns=3 * S)
    plan["programs"] = plans.udp(seconds=2, bits_per_s=8_000_000)
    plan["flows"] = [simulated("noise", udp(8_000_000, arrivals="poisson"), stop_ns=2 * S)]
    run = measure(plan)
    real = run.iperf()["end"]["sum"]["lost_packets"]
    noise = flow(run, "noise")
    missing = noise["sent"] - noise["received"]
    assert real > 0
    assert missing > 0
    assert run.engine["packets"]["overflowed"] == pytest.approx(real + missing, abs=30)
    assert conserved(run)
