"""Watching a run: bins of links, packets, the kernel's connections, and Prometheus."""

import http.client
import json
import re
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from .conftest import Command

PAIR = """
version: 1
name: pair
duration: {duration}
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links: {{wan: {{endpoints: [a, b], delay: 10ms, rate: 103.04Mbit, queue: 100p, count: ethernet}}}}
traffic:
{traffic}
measure: {{{measure}}}
"""


def table(work: Path, name: str) -> dict[str, list[Any]]:
    return pq.read_table(work / f"runs/pair/latest/{name}.parquet").to_pydict()


def way(columns: dict[str, list[Any]], direction: str) -> dict[str, list[Any]]:
    keep = [each == direction for each in columns["way"]]
    return {
        name: [value for value, kept in zip(values, keep, strict=True) if kept]
        for name, values in columns.items()
    }


def engine(work: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((work / "runs/pair/latest/raw/engine.json").read_text())
    return found


def run(
    longhaul: Command, work: Path, command: str, traffic: str, measure: str, duration: str = "1s"
) -> None:
    text = PAIR.format(traffic=traffic, measure=measure, duration=duration)
    (work / "pair.yaml").write_text(text)
    result = longhaul(command, "pair.yaml")
    assert result.returncode in (0, 4), result.stdout + result.stderr


def test_simulated_bins_hold_what_arithmetic_says(longhaul: Command, work: Path) -> None:
    # 1,000 bytes each ms are 1,028 of IP and 1,066 on an Ethernet.
    traffic = "  even: {kind: udp, from: a, to: b, rate: 8Mbit, size: 1000B}"
    run(longhaul, work, "sim", traffic, "monitor: {every: 500us, flows: true}")
    bins = way(table(work, "monitor"), "forward")
    came = dict(zip(bins["start_ns"], bins["offered_bytes"], strict=True))
    due = dict(zip(bins["start_ns"], bins["delivered_wire_bytes"], strict=True))
    assert [came.get(ms * 1_000_000, 0) for ms in range(1_000)] == [1_028] * 1_000
    assert not any(came.get(ms * 1_000_000 + 500_000, 0) for ms in range(1_000))
    # Each is on its way for 10 ms and 1,066 x 8 / 103.04 us = 83 us.
    assert [due.get(ms * 1_000_000, 0) for ms in range(1_000)] == [0] * 10 + [1_066] * 990
    flows = table(work, "monitor_flows")
    assert set(flows["flow"]) == {"even.0"}
    assert sum(flows["offered_bytes"]) == 1_028_000
    assert table(work, "packets")["flow"][0] == "even.0"


def test_packets_have_both_instants(longhaul: Command, work: Path) -> None:
    traffic = "  even: {kind: udp, from: a, to: b, rate: 8Mbit, size: 1000B}"
    run(longhaul, work, "sim", traffic, "packets: {links: [wan], window: 1s}")
    packets = table(work, "packets")
    assert len(packets["fate"]) == packets["fate"].count("delivered") == 990
    on_the_wire_ns = 1_066 * 8 / 103.04e6 * 1e9
    assert np.array(packets["delay_ns"]) == pytest.approx(10e6 + on_the_wire_ns, abs=1)
    assert packets["arrival_ns"][:3] == [0, 1_000_000, 2_000_000]


def test_nothing_is_watched_unless_it_is_asked_for(longhaul: Command, work: Path) -> None:
    traffic = "  even: {kind: udp, from: a, to: b, rate: 8Mbit, size: 1000B}"
    run(longhaul, work, "sim", traffic, "every: 100ms")
    directory = work / "runs/pair/latest"
    assert not list(directory.glob("monitor*")) + list(directory.glob("raw/monitor*"))


def test_a_live_run_is_watched_bin_by_bin_and_connection_by_connection(longhaul: Command, work: Path) -> None:
    traffic = "  bulk: {kind: tcp, from: a, to: b, cc: reno, stop: 2s}"
    run(longhaul, work, "run", traffic, "monitor: {every: 1ms, flows: true}", "3s")
    (counted,) = engine(work)["links"]
    bins, flows = table(work, "monitor"), table(work, "monitor_flows")
    for direction in ("forward", "reverse"):
        mine, by_flow = way(bins, direction), way(flows, direction)
        for column in ("offered_packets", "offered_bytes", "delivered_packets", "delivered_bytes"):
            assert sum(mine[column]) == counted[direction][column], (direction, column)
            assert sum(by_flow[column]) == counted[direction][column], (direction, column)
        for fate in ("lost", "overflowed", "dropped", "down"):
            assert sum(mine[f"{fate}_packets"]) == counted[direction][f"{fate}_packets"]
    # The link carries a full packet, 1,538 bytes with framing, in 119 us: at most 8.4 begin in 1 ms.
    assert max(bins["delivered_wire_bytes"]) <= 103.04e6 / 8 * 1e-3 + 2 * 1_538
    sockets = table(work, "sockets")
    assert {"a", "b"} == set(sockets["host"])
    sender = max(range(len(sockets["host"])), key=lambda row: sockets["sent_bytes"][row])
    assert sockets["cc"][sender] == "reno"
    assert sockets["host"][sender] == "a"
    # The last sample of a connection may be of one that has just timed out.
    rows = [row for row, local in enumerate(sockets["local"]) if local == sockets["local"][sender]]
    assert max(sockets["cwnd_segments"][row] for row in rows) > 1
    assert sockets["rtt_ns"][sender] >= 20_000_000
    assert sockets["sent_bytes"][sender] <= counted["forward"]["offered_bytes"]
    hosts = table(work, "hosts")
    values = {
        (host, counter): value
        for host, counter, value in zip(hosts["host"], hosts["counter"], hosts["value"], strict=True)
    }
    assert values["a", "Tcp.OutSegs"] > 100
    summary = json.loads((work / "runs/pair/latest/summary.json").read_text())
    assert summary["sockets"][0]["retransmits"] <= values.get(("a", "Tcp.RetransSegs"), 0)
    report = (work / "runs/pair/latest/report.html").read_text()
    assert ">Monitored links</h2>" in report
    assert ">TCP connections</h2>" in report


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def scrape(port: int) -> dict[str, dict[str, float]]:
    """The value of every sample, by metric and labels."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found: dict[str, dict[str, float]] = {}
    for line in answer.read().decode().splitlines():
        if not line.startswith("#"):
            sample, value = line.rsplit(" ", 1)
            name, _, labels = sample.partition("{")
            found.setdefault(name, {})[labels.removesuffix("}")] = float(value)
    connection.close()
    return found


def label_names(samples: dict[str, float]) -> set[str]:
    return {name for labels in samples for name in re.findall(r'(\w+)="', labels)}


def test_prometheus_finds_what_the_records_say(longhaul: Command, work: Path) -> None:
    port = free_port()
    traffic = "  bulk: {kind: tcp, from: a, to: b, cc: reno, stop: 8s}"
    (work / "pair.yaml").write_text(PAIR.format(traffic=traffic, measure="every: 100ms", duration="60s"))
    result = longhaul("up", "pair.yaml", f"--prometheus=127.0.0.1:{port}")
    assert result.returncode == 0, result.stderr
    scrapes = [scrape(port)]
    bulk = 'program="bulk",host="a"'
    assert scrapes[0]["longhaul_program_up"][bulk] == 1
    while scrapes[-1]["longhaul_program_up"][bulk] and len(scrapes) < 60:
        time.sleep(0.5)
        scrapes.append(scrape(port))
    # The dashboard asks for nothing that is not there; Prometheus itself adds the instance.
    printed = longhaul("dashboard")
    assert printed.returncode == 0
    panels = json.loads(printed.stdout)
    seen = {name: label_names(samples) for each in scrapes for name, samples in each.items()}
    asked = [target["expr"] for panel in panels["panels"] for target in panel.get("targets", [])]
    asked += [each["query"] for each in panels["templating"]["list"] if each["type"] == "query"]
    assert len(asked) > 10
    for expression in asked:
        (metric,) = set(re.findall(r"longhaul_\w+", expression))
        assert metric in seen, expression
        selected = re.findall(r"(\w+)\s*=~", expression)
        grouped = [
            name for inside in re.findall(r"by \(([^)]*)\)", expression) for name in inside.split(", ")
        ]
        listed = re.findall(r"label_values\(.*, (\w+)\)", expression)
        missing = {*selected, *grouped, *listed} - seen[metric] - {"instance"}
        assert not missing, expression

    # Nothing moves any more, and samples have been taken since.
    time.sleep(1)
    last = scrape(port)
    assert longhaul("down").returncode in (0, 4)
    names = {
        name for name in last if name.startswith("longhaul_link") and name.endswith(("_total", "_bucket"))
    }
    for name in names:
        for labels, value in last[name].items():
            history = [each[name][labels] for each in scrapes if labels in each.get(name, {})]
            assert sorted([*history, value]) == [*history, value], f"{name} {labels} went back"
    (counted,) = engine(work)["links"]
    for direction in ("forward", "reverse"):
        labels = f'link="wan",direction="{direction}"'
        for name in (
            "offered_packets",
            "offered_bytes",
            "delivered_packets",
            "delivered_bytes",
            "wire_bytes",
        ):
            assert last[f"longhaul_link_{name}_total"][labels] == counted[direction][name]
        for fate in ("lost", "overflowed", "dropped", "down", "too_big"):
            found = last["longhaul_link_ended_packets_total"][f'{labels},fate="{fate}"']
            assert found == counted[direction][f"{fate}_packets"]
        late = last["longhaul_link_lateness_seconds_count"][labels]
        assert late == counted[direction]["delivered_packets"]
        # Tables know the increases of intervals, which add up to the same.
        lines = way(table(work, "links"), direction)
        assert sum(lines["delivered_packets"]) == counted[direction]["delivered_packets"]
    assert last["longhaul_program_up"][bulk] == 0
    assert ends_within(port, seconds=10)


def ends_within(port: int, *, seconds: float) -> bool:
    """Whether nobody listens any more."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (["--prometheus", "pair.yaml"], "is not ADDRESS:PORT; write --prometheus=127.0.0.1:9464"),
        (["--prometheus=127.0.0.1:99999", "pair.yaml"], "is not ADDRESS:PORT"),
        (["--prometheus=127.0.0.1:0", "pair.yaml"], "is not ADDRESS:PORT"),
        (["--prometheus=127.0.0.1:\u00b2", "pair.yaml"], "is not ADDRESS:PORT"),
    ],
)
def test_an_address_that_is_none_is_refused(
    longhaul: Command, work: Path, option: list[str], says: str
) -> None:
    (work / "pair.yaml").write_text(
        PAIR.format(traffic="  p: {kind: ping, from: a, to: b}", measure="", duration="1s")
    )
    result = longhaul("run", *option)
    assert result.returncode == 2
    assert says in result.stderr


def test_a_name_that_is_no_address_is_said_to_be_unknown(longhaul: Command, work: Path) -> None:
    (work / "pair.yaml").write_text(
        PAIR.format(traffic="  p: {kind: ping, from: a, to: b}", measure="", duration="1s")
    )
    result = longhaul("run", "pair.yaml", "--prometheus=nowhere.invalid:9464")
    assert result.returncode == 3
    assert 'there is no address "nowhere.invalid"; name another one' in result.stderr
    assert not (work / "runs").exists()


def test_a_port_that_is_taken_is_refused_before_anything_begins(longhaul: Command, work: Path) -> None:
    (work / "pair.yaml").write_text(
        PAIR.format(traffic="  p: {kind: ping, from: a, to: b}", measure="", duration="1s")
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = longhaul("run", "pair.yaml", f"--prometheus={address}")
    assert result.returncode == 3
    assert f"cannot listen at {address}: Address already in use; name another port" in result.stderr
    assert not (work / "runs").exists()
