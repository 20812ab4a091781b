"""What a run will show, from its plan: RTTs, queues shorter than a BDP, overloaded links."""

import time

from longhaul.diagnostics import Code
from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.lower.preview import Preview, preview

THREE = """\
version: 1
name: three
duration: 10s
nodes: {par: {kind: host}, r: {kind: router}, nyc: {kind: host}}
links:
  access: {endpoints: [par, r], delay: 1ms, rate: 10Gbit}
  wan: {endpoints: [r, nyc], delay: 19ms, rate: 100Mbit%s}
"""


def previewed(text: str) -> Preview:
    return preview(resolve(parse_scenario(text.encode(), name="three.yaml")))


def of(code: Code, text: str) -> list[str]:
    return [each.text for each in previewed(text).warnings if each.code == code]


def test_the_rtt_of_a_pair_is_the_sum_of_the_delays_of_both_ways() -> None:
    expected = previewed(THREE % "")
    assert expected.line == "par > nyc: RTT 40 ms (20 ms each way)"
    assert expected.round_trips[0].round_trip_ns == 2 * (1 + 19) * 10**6


def test_delays_that_differ_by_direction_are_both_in_the_line() -> None:
    text = THREE % ", forward: {delay: 9ms}"
    assert previewed(text).line == "par > nyc: RTT 30 ms (10 ms there, 20 ms back)"


def test_probed_pairs_come_before_other_traffic_and_the_rest_are_counted() -> None:
    text = "\n".join(
        [
            "version: 1\nname: star\nduration: 1s",
            "nodes: {r: {kind: router}, h1..6: {kind: host, attach: r, profile: wire}}",
            "profiles: {wire: {delay: 1ms}}",
            "traffic:",
            "  bulk: {kind: tcp, from: h6, to: h1}",
            "  probe: {kind: ping, from: h1, to: h2..6, every: 10ms}",
        ]
    )
    line = previewed(text).line
    assert line is not None
    assert line.startswith("h1 > h2: RTT 4 ms (2 ms each way); h1 > h3: ")
    assert line.endswith("; 2 more: longhaul show")
    assert "h6" not in line


def test_a_queue_below_the_bdp_of_the_path_is_reported_with_both_sizes() -> None:
    # 100 Mbit/s for 40 ms is 500 kB.
    traffic = "traffic: {bulk: {kind: tcp, from: par, to: nyc}}\n"
    (text,) = of(Code.QUEUE_BELOW_BDP, THREE % ", queue: 250kB" + traffic)
    assert "three.yaml:7:" in text
    assert "its queue (r > nyc) holds 250 kB, less than the BDP of par > nyc, 500 kB" in text
    assert "limit: 500kB" in text
    assert of(Code.QUEUE_BELOW_BDP, THREE % ", queue: 500kB" + traffic) == []


def test_the_default_queue_of_a_long_link_holds_its_bdp() -> None:
    assert of(Code.QUEUE_BELOW_BDP, THREE % "" + "traffic: {bulk: {kind: tcp, from: par, to: nyc}}\n") == []


def test_the_default_queue_of_a_short_link_on_a_long_path_is_not_reported() -> None:
    text = """
version: 1
name: chain
duration: 10s
nodes: {a: {kind: host}, r: {kind: router}, b: {kind: host}}
links:
  first: {endpoints: [a, r], delay: 60ms, rate: 1Gbit}
  second: {endpoints: [r, b], delay: 1ms, rate: 100MbitQUEUE}
traffic: {bulk: {kind: tcp, from: a, to: b}}
"""
    assert of(Code.QUEUE_BELOW_BDP, text.replace("QUEUE", "")) == []
    # The default is 10 ms at the rate: 125 kB.
    assert of(Code.QUEUE_BELOW_BDP, text.replace("QUEUE", ", queue: 125kB")) == []
    assert len(of(Code.QUEUE_BELOW_BDP, text.replace("QUEUE", ", queue: 100kB"))) == 1


def test_datagrams_alone_need_no_queue_of_a_bdp() -> None:
    traffic = "traffic: {u: {kind: udp, from: par, to: nyc, rate: 1Mbit}}\n"
    assert of(Code.QUEUE_BELOW_BDP, THREE % ", queue: 10p" + traffic) == []


def test_flows_of_constant_rate_are_added_up_with_their_headers() -> None:
    # Headers of 28 B on 972 B: 60 Mbit/s of payload are 61.73 Mbit/s, two flows 123.5.
    flow = "{{kind: udp, from: par, to: nyc, rate: 60Mbit, size: 972B{}}}"
    both = f"traffic: {{u: {flow.format('')}, v: {flow.format('')}}}\n"
    (text,) = of(Code.LINK_OVERLOADED, THREE % "" + both)
    # 1 - 100 / 123.5 = 0.19.
    assert "drops at least 19 % of the traffic of constant rate" in text
    assert "123.5 Mbit/s offered from 0 s on, its rate is 100 Mbit/s" in text
    assert "link wan (r > nyc)" in text


def test_flows_that_do_not_overlap_do_not_overload() -> None:
    flow = "{{kind: udp, from: par, to: nyc, rate: 60Mbit, {}}}"
    later = f"traffic: {{u: {flow.format('stop: 4s')}, v: {flow.format('start: 4s')}}}\n"
    assert of(Code.LINK_OVERLOADED, THREE % "" + later) == []
    overlapping = f"traffic: {{u: {flow.format('stop: 5s')}, v: {flow.format('start: 4s')}}}\n"
    (text,) = of(Code.LINK_OVERLOADED, THREE % "" + overlapping)
    assert "offered from 4 s on" in text


def test_a_preview_costs_little_beside_the_scenario_that_it_is_of() -> None:
    sites = 250
    links = "\n".join(
        f"  l{n}: {{endpoints: [r{n}, r{n + 1}], delay: 1ms, rate: 1Gbit}}" for n in range(1, sites)
    )
    text = (
        "version: 1\nname: chain\nduration: 1s\nprofiles: {wire: {delay: 15us, rate: 10Gbit}}\nnodes:\n"
        + "\n".join(
            f"  r{n}: {{kind: router}}\n  h{n}: {{kind: host, attach: r{n}, profile: wire}}"
            for n in range(1, sites + 1)
        )
        + f"\nlinks:\n{links}\ntraffic: {{t: {{kind: tcp, from: h1, to: h{sites}}}}}\n"
    )
    begun = time.process_time()
    resolved = resolve(parse_scenario(text.encode(), name="chain.yaml"))
    resolved_s = time.process_time() - begun
    begun = time.process_time()
    preview(resolved)
    assert time.process_time() - begun < resolved_s / 4
