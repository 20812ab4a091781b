"""Live runs whose network is divided among engine threads: ``longhaul run --shards``."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from slurm import free_port

pytestmark = pytest.mark.waiting

COMMAND = str(Path(sys.executable).parent / "longhaul")
SCENARIO = """\
version: 1
name: chain
duration: 3s
nodes:
  r1..4: {kind: router}
  a1..2: {kind: host, attach: r1}
  b1: {kind: host, attach: r2}
  c1: {kind: host, attach: r3}
  d1..2: {kind: host, attach: r4}
links:
  one: {endpoints: [r1, r2], rate: 50Mbit, delay: 10ms}
  two: {endpoints: [r2, r3], rate: 50Mbit, delay: 20ms, loss: 10%}
  three: {endpoints: [r3, r4], delay: 5ms}
traffic:
  far: {kind: ping, from: a1, to: d1, every: 20ms}
  near: {kind: ping, from: b1, to: a1, every: 20ms}
  bulk: {kind: tcp, from: d2, to: a2, stop: 2s, cc: reno}
events:
  - {at: 1s, link: one, set: {delay: 30ms}}
measure: {packets: {links: [one], window: 1s}}
"""


def run(place: Path, *options: str) -> dict[str, Any]:
    (place / "chain.yaml").write_text(SCENARIO)
    done = subprocess.run(
        [COMMAND, "run", "chain.yaml", *options],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    # A machine that others keep busy may drop packets, which makes the network invalid.
    assert done.returncode in (0, 4), done.stderr + done.stdout
    found: dict[str, Any] = json.loads((place / "runs/chain/latest-live/summary.json").read_text())
    return found


def probe(summary: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in summary["probes"] if each["name"] == name)
    return found


@pytest.mark.parametrize("shards", [2, 4])
def test_threads_give_each_packet_one_fate_and_the_delay_of_its_links(work: Path, shards: int) -> None:
    summary = run(work, "--shards", str(shards))
    directory = work / "runs/chain/latest-live"
    engine = json.loads((directory / "raw/engine.json").read_text())
    packets = engine["packets"]
    assert packets["lost_between_machines"] == 0 or summary["fidelity"]["verdict"] == "invalid"
    fates = sum(count for fate, count in packets.items() if fate not in ("injected", "copied", "replies"))
    assert packets["injected"] + packets["replies"] == fates
    assert packets["lost"] > 10
    assert len(summary["machines"]["machines"]) == shards
    assert sum(each["nodes"] for each in summary["machines"]["machines"]) == 10
    far, near = probe(summary, "far"), probe(summary, "near")
    assert far["rtt_min_ns"] > 70e6 - 1e5
    assert near["rtt_min_ns"] > 20e6 - 1e5
    assert near["rtt_max_ns"] > 60e6 - 1e5
    # Each request and each reply crosses a link that loses a tenth.
    assert 0.05 < far["lost"] / far["sent"] < 0.4
    # Only a machine that others keep busy loses any, and then says so.
    assert near["lost"] == 0 or summary["fidelity"]["verdict"] == "invalid"
    (check,) = next(flow for flow in summary["flows"] if flow["name"] == "bulk")["checked"]
    assert abs(check["reported"] - check["counted"]) < 100_000
    assert [change["at_ns"] for change in summary["changes"]] == [1_000_000_000]
    table = pq.read_table(directory / "packets.parquet").to_pydict()
    assert {"forward", "reverse"} <= set(table["way"])
    assert sorted(path.name for path in (directory / "captures").iterdir()) == [
        "one@r1.pcapng", "one@r2.pcapng",
    ]  # fmt: skip
    assert not (directory / "machines").exists()
    assert "Machines and engine threads" in (directory / "report.html").read_text()


def test_a_divided_network_and_a_whole_one_have_the_same_tables(work: Path) -> None:
    whole = run(work, "--no-report")
    tables = {path.name for path in (work / "runs/chain/latest-live").glob("*.parquet")}
    divided = run(work, "--no-report", "--shards", "2")
    assert {path.name for path in (work / "runs/chain/latest-live").glob("*.parquet")} == tables
    names = [[(link["name"], link["way"]) for link in each["links"]] for each in (whole, divided)]
    assert names[0] == names[1]
    assert whole["machines"] is None
    # Programs that send at fixed times send as much.
    assert min(probe(each, "near")["sent"] for each in (whole, divided)) > 75


def test_bins_of_monitored_links_have_all_packets_whichever_thread_counts_them(work: Path) -> None:
    (work / "chain.yaml").write_text(
        SCENARIO.replace("window: 1s}}", "window: 1s}, monitor: {links: [one, three], flows: true}}")
    )
    argv = [COMMAND, "run", "chain.yaml", "--no-report", "--shards", "2"]
    done = subprocess.run(argv, cwd=work, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 4), done.stderr + done.stdout
    directory = work / "runs/chain/latest-live"
    links = json.loads((directory / "raw/engine.json").read_text())["links"]
    kinds = ("offered", "delivered")
    for name in ("monitor", "monitor_flows"):
        bins = pq.read_table(directory / f"{name}.parquet").to_pylist()
        for link in links:
            for way in ("forward", "reverse"):
                found = [each for each in bins if (each["link"], each["way"]) == (link["name"], way)]
                sums = [sum(each[f"{kind}_packets"] for each in found) for kind in kinds]
                counted = [link[way][f"{kind}_packets"] for kind in kinds]
                is_monitored = link["name"] in ("one", "three")
                assert sums == (counted if is_monitored else [0, 0])
                assert min(sums) > 30 or not is_monitored
                times_ns = [each["start_ns"] for each in found]
                assert all(each % 1_000_000 == 0 for each in times_ns)


def test_the_journals_of_two_threads_are_replayed_to_the_picosecond(work: Path) -> None:
    found = run(work, "--no-report", "--shards", "2", "--journal")
    directory = work / "runs/chain/latest-live"
    assert not (directory / "machines").exists()
    replayed = [COMMAND, "compare", "--replay", str(directory)]
    done = subprocess.run(replayed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    packets = found["packets"]
    assert f"replayed {packets['injected']} packets and 2 changes of " in done.stdout
    engine = json.loads((directory / "raw/engine.json").read_text())
    peers = [peer for each in engine["machines"].values() for peer in each["tunnel"]["peers"]]
    crossed = sum(peer["sent_packets"] for peer in peers)
    assert crossed > 100
    assert f"  {crossed} times a packet went to another engine" in done.stdout
    # A network with other draws does something else.
    plan = directory / "plan.json"
    seed = json.loads(plan.read_text())["seed"]
    plan.write_text(plan.read_text().replace(f'"seed": {seed},', f'"seed": {seed + 1},'))
    done = subprocess.run(replayed, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "then they differ" in done.stdout
    (directory / "raw/journals/shard-1.bin").unlink()
    plan.write_text(plan.read_text().replace(f'"seed": {seed + 1},', f'"seed": {seed},'))
    done = subprocess.run(replayed, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "shard-1.bin" in done.stderr


def test_a_run_of_two_threads_is_watched_and_changed_as_that_of_one(work: Path) -> None:
    (work / "chain.yaml").write_text(SCENARIO.replace("duration: 3s", "duration: 60s"))
    (work / "runtime").mkdir(mode=0o700)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(work / "runtime")}
    port = free_port()

    def ask(*words: str) -> str:
        return subprocess.run(
            [COMMAND, *words], env=environment, capture_output=True, text=True, check=True
        ).stdout

    argv = [COMMAND, "run", "chain.yaml", "--no-report", "--shards", "2", f"--prometheus=127.0.0.1:{port}"]
    with subprocess.Popen(
        argv, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            metrics = ""
            deadline = time.monotonic() + 60
            while "longhaul_link_throughput" not in metrics and time.monotonic() < deadline:
                time.sleep(0.2)
                assert process.poll() is None, process.communicate()
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                        metrics = answer.read().decode()
                except OSError:
                    continue
            # Every direction of every link, whichever thread counts it.
            for link, way in (("one", "forward"), ("two", "forward"), ("three", "reverse")):
                assert f'longhaul_link_delivered_packets_total{{link="{link}",direction="{way}"}}' in metrics
            assert "packets delivered" in ask("status")
            status = json.loads(ask("status", "--json"))
            assert status["engine"]["delivered_packets"] > 0
            # Both directions of a link, at the end whose packets other threads know: those of "one" are cut.
            for link, at, onto, off in (
                ("one", "r2", "b1 > a1 ICMP echo request", "a1 > b1 ICMP echo reply"),
                ("three", "r3", "a1 > d1 ICMP echo request", "d1 > a1 ICMP echo reply"),
            ):
                lines = ask("capture", link, "--at", at, "-c", "400").splitlines()
                times_s = [float(line.split()[0]) for line in lines]
                assert times_s == sorted(times_s)
                assert any(f" onto {onto}" in line for line in lines), lines
                assert any(f" off  {off}" in line for line in lines), lines
            said = ask("set", "three", "delay=25ms")
            ask("set", "three", "loss=0.1%")
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, out + errors
    captured = sorted(path.name for path in (work / "runs/chain/latest-live/captures").iterdir())
    assert captured == ["one@r1.pcapng", "one@r2.pcapng", "three@r3.pcapng", "three@r4.pcapng"]
    found = json.loads((work / "runs/chain/latest-live/summary.json").read_text())
    interventions = [each for each in found["changes"] if each["kind"] == "intervention"]
    # Each once, although two threads made it, and at the time that was said.
    assert [each["words"] for each in interventions] == [["delay=25ms"], ["loss=0.1%"]]
    assert f"{interventions[0]['at_ns'] / 1e9:.6f} s" in said


SEGMENTS = """\
version: 1
name: chain
duration: 3s
nodes:
  s1..2: {kind: switch}
  a1..2: {kind: host, attach: s1, profile: cable}
  b1..2: {kind: host, attach: s2, profile: cable}
  r1..2: {kind: router}
profiles: {cable: {delay: 1ms, rate: 1Gbit}}
links:
  left: {endpoints: [s1, r1], delay: 2ms}
  wan: {endpoints: [r1, r2], delay: 5ms, rate: 100Mbit}
  right: {endpoints: [s2, r2], delay: 2ms}
traffic:
  near: {kind: ping, from: a1, to: a2, every: 20ms}
  far: {kind: ping, from: a1, to: b2, every: 20ms}
  noise: {kind: udp, from: a2, to: b1, rate: 1Mbit, stop: 2s, simulated: true}
measure: {journal: true}
"""


def test_a_switch_is_on_the_thread_of_its_hosts(work: Path) -> None:
    (work / "chain.yaml").write_text(SEGMENTS)
    argv = [COMMAND, "run", "chain.yaml", "--no-report", "--shards", "2"]
    done = subprocess.run(argv, cwd=work, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 4), done.stderr + done.stdout
    directory = work / "runs/chain/latest-mixed"
    record = json.loads((directory / "run.json").read_text())
    assert [cut["link"] for cut in record["cuts"]] == ["wan"]
    summary = json.loads((directory / "summary.json").read_text())
    assert probe(summary, "near")["received"] > 50
    assert probe(summary, "near")["rtt_min_ns"] > 4e6 - 1e5
    assert probe(summary, "far")["received"] > 50
    # Two cables, two uplinks and the WAN, there and back.
    assert probe(summary, "far")["rtt_min_ns"] > 22e6 - 1e5
    (noise,) = json.loads((directory / "raw/engine.json").read_text())["flows"]
    assert noise["sent"] == noise["received"] > 100
    replayed = [COMMAND, "compare", "--replay", str(directory)]
    again = subprocess.run(replayed, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--shards", "9"), "the network cannot be divided into 9 shards"),
        (("--shards", "2", "--clock", "virtual"), "--shards does not support --clock virtual yet"),
        (("--shards", "2", "--on", "hostfile"), "--on does not support --shards yet"),
        (("--shards", "many"), "--shards"),
    ],
)
def test_what_cannot_be_divided_is_refused(work: Path, options: tuple[str, ...], said: str) -> None:
    (work / "chain.yaml").write_text(SCENARIO)
    done = subprocess.run(
        [COMMAND, "run", "chain.yaml", *options], cwd=work, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not (work / "runs").exists()
