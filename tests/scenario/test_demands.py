"""What a scenario asks of a machine, added up by hand, against what the machine has shown."""

from pathlib import Path
from typing import Any

import pytest

from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.lower.demands import concerns

SHOWN: dict[str, Any] = {
    "cpus": 4,
    "faithful_bits_per_s": 10**9,
    "faithful_packets_per_s": 50_000,
    "hosts_per_s": 10.0,
    "jitter_p50_ns": 1_000,
    "jitter_p99_ns": 20_000,
}


SCENARIO = """\
version: 1
name: asks
duration: 10s
nodes: {{r: {{kind: router}}, a1..4: {{kind: host, attach: r, profile: lan}}, b: {{kind: host}}}}
profiles: {{lan: {{delay: 10us}}}}
links: {{wan: {{endpoints: [r, b], delay: 5ms, rate: 800Mbit}}}}
{rest}
"""


def told(rest: str, **shown: Any) -> tuple[str, ...]:
    text = SCENARIO.format(rest=rest)
    resolved = resolve(parse_scenario(text.encode(), name="asks.yaml"))
    return tuple(each.headline for each in concerns(resolved, {**SHOWN, **shown}))


def test_without_a_certificate_nothing_is_said() -> None:
    text = b"version: 1\nname: one\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\n"
    text += b"links: {ab: {endpoints: [a, b]}}\ntraffic: {u: {kind: udp, from: a, to: b, rate: 1Tbit}}\n"
    resolved = resolve(parse_scenario(text, name="one.yaml"))
    assert concerns(resolved, None) == ()
    assert len(concerns(resolved, SHOWN)) == 2


def test_tcp_flows_share_their_bottleneck() -> None:
    # Four flows over 800 Mbit/s are 800 Mbit/s, and no more than was shown.
    traffic = "".join(f"  t{n}: {{kind: tcp, from: a{n}, to: b}}\n" for n in range(1, 5))
    assert told(f"traffic:\n{traffic}") == ()
    (warning,) = told(f"traffic:\n{traffic}", faithful_bits_per_s=5 * 10**8)
    assert warning == (
        "asks.yaml:8:3: traffic.t1: flows may send 800Mbit together at 0s; "
        "this machine was faithful up to 500Mbit; lower rates, or simulate [W0301]"
    )


def test_a_flow_that_no_rate_limits_is_not_counted() -> None:
    assert told("traffic: {t: {kind: tcp, from: a1, to: a2}}") == ()


def test_a_machine_that_kept_nothing_on_time_is_told_so() -> None:
    (warning,) = told("traffic: {t: {kind: tcp, from: a1, to: b}}", faithful_bits_per_s=0)
    assert (
        "800Mbit together at 0s; this machine was not faithful at any rate when it was measured; lower"
        in warning
    )


def test_what_begins_after_the_end_asks_nothing() -> None:
    late = "{kind: udp, from: a1, to: a2, rate: 9Gbit, start: 11s}"
    assert told(f"traffic: {{late: {late}}}") == ()


def test_datagrams_add_up_where_they_meet_in_time() -> None:
    flow = "{{kind: udp, from: a1, to: a2, rate: 600Mbit, size: 1472B, start: {}, stop: {}}}"
    apart = f"traffic: {{u: {flow.format('0s', '5s')}, v: {flow.format('5s', '9s')}}}"
    assert told(apart, faithful_packets_per_s=10**6) == ()
    together = f"traffic: {{u: {flow.format('0s', '5s')}, v: {flow.format('4s', '9s')}}}"
    (warning,) = told(together, faithful_packets_per_s=10**6)
    # 1500 of 1472 bytes: twice 611.4 Mbit/s.
    assert "flows may send 1.22Gbit together at 4s" in warning


def test_small_packets_count_by_number() -> None:
    # 64 Mbit/s of 100 bytes are 80,000 packets/s.
    (warning,) = told("traffic: {u: {kind: udp, from: a1, to: a2, rate: 64Mbit, size: 100B}}")
    assert "flows send 80,000 packets/s together at 0s; this machine was faithful up to 50,000" in warning
    assert warning.endswith("; send larger packets, or fewer [W0301]")


def test_the_most_packets_need_not_be_with_the_most_bits() -> None:
    big = "{kind: udp, from: a1, to: a2, rate: 900Mbit, size: 8kB, stop: 4s}"
    small = "{kind: udp, from: a1, to: a2, rate: 64Mbit, size: 100B, start: 5s}"
    (warning,) = told(f"traffic: {{big: {big}, small: {small}}}")
    assert "traffic.small: flows send 80,000 packets/s together at 5s" in warning


def test_pings_count_there_and_back() -> None:
    traffic = "traffic: {p: {kind: ping, from: a1, to: [a2, a3], every: 1ms}}"
    # 2 x 2 x 1000 packets/s.
    assert told(traffic, faithful_packets_per_s=4_000) == ()
    assert "4,000 packets/s" in told(traffic, faithful_packets_per_s=3_999)[0]


def test_what_is_simulated_asks_nothing_of_the_machine() -> None:
    flow = "traffic: {u: {kind: udp, from: a1, to: a2, rate: 10Gbit, simulated: true}}"
    assert told(flow) == ()


@pytest.mark.parametrize(("cpus", "rest"), [(4, "3 processors are"), (2, "1 processor is")])
def test_hosts_that_compute_share_what_the_engine_leaves(cpus: int, rest: str) -> None:
    program = "programs: {mpi: {run: mpirun true, hosts: [a1..4]}}"
    (warning,) = told(program, cpus=cpus)
    assert warning.startswith("asks.yaml:7:")
    assert f"programs.mpi.hosts: 4 hosts compute at once; {rest} left beside the engine's" in warning
    assert told(program, cpus=5) == ()


def test_more_hosts_than_come_up_in_a_minute_are_told() -> None:
    # 5 hosts at 0.05 a second take 100 s.
    (warning,) = told("", hosts_per_s=0.05)
    assert "asks.yaml:4:1: nodes: 5 hosts take about 100 s to start" in warning
    assert told("", hosts_per_s=0.1) == ()


def test_lateness_below_that_of_an_idle_machine_is_told() -> None:
    expect = "expect: [{metric: fidelity.lateness.p99, max: 10us, else: untrusted}]"
    (warning,) = told(expect)
    assert "expect[0].max: expects 10us; this machine reached 20us when it was idle; allow more" in warning
    assert told(expect.replace("10us", "20us")) == ()


def test_a_certificate_of_an_older_version_is_enough() -> None:
    old = concerns(
        resolve(
            parse_scenario(b"version: 1\nname: o\nduration: 1s\nnodes: {a: {kind: host}}\n", name="o.yaml")
        ),
        {"cpus": 2, "faithful_bits_per_s": 10},
    )
    assert old == ()


def test_transfers_ask_for_what_they_send_on_average() -> None:
    # 100 kB every 2 ms are 400 Mbit/s; a tail without a mean takes what the way has.
    web = "traffic: {w: {kind: requests, from: a1, to: b, gap: 2ms, size: %s}}"
    (warning,) = told(web % "100kB", faithful_bits_per_s=3 * 10**8)
    assert "flows may send 400Mbit together at 0s" in warning
    assert told(web % "100kB", faithful_bits_per_s=4 * 10**8) == ()
    (warning,) = told(web % "{dist: pareto, shape: 1, scale: 1kB}", faithful_bits_per_s=3 * 10**8)
    assert "800Mbit together" in warning


def test_a_flow_list_asks_for_what_it_has_while_it_lasts(tmp_path: Path) -> None:
    # From a1 to b, 2 x 25 MB in a second, from 1.5 s on.
    (tmp_path / "flows.csv").write_text("start_s,from,to,bytes\n0.5,a1,b,25000000\n1.5,a1,b,25000000\n")
    text = SCENARIO.format(rest="traffic: {l: {kind: replay, file: flows.csv, start: 1s}}")
    resolved = resolve(parse_scenario(text.encode(), name="asks.yaml", folder=tmp_path))
    (warning,) = concerns(resolved, {**SHOWN, "faithful_bits_per_s": 3 * 10**8})
    assert "flows may send 400Mbit together at 1.5s" in warning.message


def test_what_is_simulated_asks_for_nothing() -> None:
    background = "busy: {kind: background, link: wan, load: 90%}"
    web = "web: {kind: requests, from: a1, to: b, gap: 1ms, size: 1MB, simulated: true}"
    traffic = f"traffic: {{{background}, {web}}}"
    assert told(traffic, faithful_bits_per_s=10**6, faithful_packets_per_s=10) == ()
