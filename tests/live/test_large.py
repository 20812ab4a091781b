"""A network of a thousand links, live: it comes up, routes everywhere, is measured, and leaves nothing."""

import os
import threading
import time
from pathlib import Path

import networkx as nx
import pytest

import longhaul
from longhaul import _longhaul, topologies
from longhaul.scenario.expand.topologies.importing import import_topology
from longhaul.units.quantities import Rate

ROUTERS = 334
"""With 2 links each, and a host: 2 + 2 x 331 and 334 links."""
NAME = f"large-{os.getpid()}"
EVERY = 1000
"""Of all pairs of hosts, one in so many is tried."""


def mine() -> dict[int, str]:
    """Processes that came from this one, with their network namespaces."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: dict[int, str] = {}
    for process in parents:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() and process != above:
            try:
                found[process] = os.readlink(f"/proc/{process}/ns/net")
            except OSError:
                continue
    return found


def left_in(namespaces: set[str], began_before_s: float) -> set[int]:
    """Processes in these namespaces. Numbers are used again: others' may have come since."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            ticks = int((process / "stat").read_text().rpartition(")")[2].split()[19])
            if os.readlink(process / "ns" / "net") in namespaces:
                found |= {int(process.name)} if ticks / os.sysconf("SC_CLK_TCK") < began_before_s else set()
        except OSError:
            continue
    return found


def groups() -> list[Path]:
    """Control groups that are called after the run."""
    own = _longhaul.own_cgroup()
    return list(Path(own).glob(f"longhaul-{NAME}-*")) if own else []


class Watch:
    """Looks at what a run has while it lasts."""

    def __init__(self) -> None:
        self.seen: dict[int, str] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            self.seen |= mine()

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()


def pairs() -> list[tuple[int, int]]:
    every = [(a, b) for a in range(1, ROUTERS + 1) for b in range(1, ROUTERS + 1) if a != b]
    return every[::EVERY]


def test_a_thousand_links_come_up_route_everywhere_are_measured_and_go_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    chosen = pairs()
    assert len(chosen) > 100
    sketch = topologies.barabasi_albert(
        name=NAME,
        routers=ROUTERS,
        access={"delay": "50us", "rate": "1Gbit"},
        wan={"delay": "2ms", "rate": "1Gbit"},
        duration="5s",
        measure={"every": "500ms"},
        traffic={
            f"p{number}": {
                "kind": "ping",
                "from": f"r{a}-h1",
                "to": f"r{b}-h1",
                "count": 2,
                "every": "100ms",
                "start": f"{500 + 30 * number}ms",
            }
            for number, (a, b) in enumerate(chosen)
        },
    )
    resolved = sketch.check()
    graph = nx.Graph([link["endpoints"] for link in resolved.plan["links"]])
    place = {node["name"]: index for index, node in enumerate(resolved.plan["nodes"])}
    assert len(resolved.plan["links"]) == 2 + 2 * 331 + ROUTERS

    before = mine()
    with Watch() as watch:
        path = sketch.write(tmp_path / "large.yaml")
        began_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        result = longhaul.run_live(path, runs=tmp_path / "runs", report=False)

    probes = {each["name"]: each for each in result.summary["probes"]}
    for number, (a, b) in enumerate(chosen):
        probe = probes[f"p{number}"]
        routers = nx.shortest_path_length(graph, place[f"r{a}-h1"], place[f"r{b}-h1"]) - 2
        assert probe["loss"] == 0, f"r{a} to r{b}"
        assert probe["rtt_min_ns"] >= 2 * (2 * 50_000 + routers * 2_000_000), f"r{a} to r{b}"
    table = result.table("links")
    assert set(zip(table["link"], table["way"], strict=True)) == {
        (link["name"], way) for link in resolved.plan["links"] for way in ("forward", "reverse")
    }
    assert not mine().keys() - before.keys()
    theirs = set(watch.seen.values()) - {os.readlink("/proc/self/ns/net")}
    assert len(theirs) > 1
    assert not left_in(theirs, began_s + result.summary["duration_ns"] / 1e9)
    assert not groups()


def test_an_imported_topology_runs_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    # 60 towns on a circle of latitude, in the format of the Topology Zoo, with some links across.
    towns = nx.circulant_graph(60, [1, 7])
    for town in towns:
        nx.set_node_attributes(towns, {town: {"label": f"Town {town}", "Latitude": 45.0, "Longitude": town}})
    nx.write_graphml(towns, tmp_path / "towns.graphml")
    made = import_topology(tmp_path / "towns.graphml", {"rate": Rate(10**9), "hosts": 1})
    path = tmp_path / "towns.yaml"
    path.write_text(made.text.replace("duration: 10s", "duration: 2s"))
    before = mine()
    result = longhaul.run_live(path, runs=tmp_path / "runs", report=False)
    (probe,) = result.summary["probes"]
    assert probe["loss"] == 0
    assert probe["rtt_min_ns"] >= probe["path_rtt_ns"]
    assert len(set(result.table("links")["link"])) == 60 * 2 + 60
    assert not mine().keys() - before.keys()
