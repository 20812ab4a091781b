"""Figure 7: several instances of PingPong through one gateway, latency at worst, by both algorithms."""

import selectors
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

import numpy as np
from pingpong import LEAST, connect
from playing import SCENARIO, served
from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

INSTANCES = (1, 2, 5, 10, 20, 50)
"""Of PingPong; the gateway has two connections for each."""
ALGORITHMS = ("one-thread", "paper")
SECONDS, TIMES = 4.0, 3
PAUSE_S = 0.02


@dataclass(frozen=True)
class Found:
    """Of one run, in ms: what clients saw, and how late the gateway wrote."""

    middle: float
    late: float
    """At the 99th percentile."""
    most: float
    written_late: float
    """At the 99th percentile."""


def measured(study: Study, port: int, algorithm: str, instances: int) -> Found:
    """Run it once."""
    params = {
        "kind": "constant",
        "here": "benedict",
        "there": "roadrunner",
        "algorithm": algorithm,
        "target": str(port),
    }
    with longhaul.relay.running(SCENARIO, params=params, runs=study.directory / "runs") as relay:
        place = next(each for each in relay.listening if each.kind == "forward").place
        times = np.array(ping_pongs(place, instances)) * 1e3
    table = relay.stop().table("messages")
    late = (np.array(table["out_ns"]) - np.array(table["in_ns"]) - np.array(table["wanted_ns"])) * 1e-6
    return Found(
        float(np.median(times)),
        float(np.percentile(times, 99)),
        float(times.max()),
        float(np.percentile(late, 99)),
    )


def ping_pongs(place: tuple[str, int], instances: int) -> list[float]:
    """Half round trips of 8 bytes in seconds, of so many connections in one thread."""
    message = LEAST.to_bytes(4) + LEAST.to_bytes(4)
    connections = [connect(*place) for _ in range(instances)]
    found, sent = [], dict.fromkeys(connections, 0.0)
    with selectors.DefaultSelector() as selector:
        for number, connection in enumerate(connections):
            selector.register(connection, selectors.EVENT_READ, number)
            time.sleep(PAUSE_S * (number > 0) / instances)
            sent[connection] = time.monotonic()
            connection.sendall(message)
        warm, until = time.monotonic() + 0.5, time.monotonic() + 0.5 + SECONDS
        while time.monotonic() < until:
            for key, _events in selector.select(0.1):
                connection = connections[key.data]
                connection.recv(LEAST)
                now = time.monotonic()
                if now > warm:
                    found.append((now - sent[connection]) / 2)
                sent[connection] = time.monotonic()
                connection.sendall(message)
    for connection in connections:
        connection.close()
    return found


def study_scalability(study: Study) -> None:
    """Every number of instances with both algorithms, in turn; judge the medians of the repeats; draw."""
    every: dict[str, dict[int, Found]] = {algorithm: {} for algorithm in ALGORITHMS}
    repeats: dict[tuple[str, int], list[Found]] = {}
    with served("127.32.0.11") as port:
        for _ in range(TIMES):
            for instances in INSTANCES:
                for algorithm in ALGORITHMS:
                    found = measured(study, port, algorithm, instances)
                    repeats.setdefault((algorithm, instances), []).append(found)
    for (algorithm, instances), all_found in repeats.items():
        every[algorithm][instances] = Found(
            *(median(getattr(found, field) for found in all_found) for field in Found.__annotations__)
        )
    study.table(
        "figure7",
        [
            {
                "algorithm": algorithm,
                "connections": 2 * instances,
                "median_ms": round(found.middle, 3),
                "p99_ms": round(found.late, 3),
                "max_ms": round(found.most, 3),
                "written_late_p99_ms": round(found.written_late, 3),
            }
            for algorithm, curve in every.items()
            for instances, found in curve.items()
        ],
    )
    for algorithm, curve in every.items():
        few, many = curve[1], curve[20]
        for name, ratio in (
            ("median", many.middle / few.middle),
            ("99th percentile", many.late / few.late),
            ("maximum", many.most / few.most),
        ):
            study.claim(
                f"{algorithm}: the {name} of latency differs by under 10 % between 2 and 40 connections"
                f" ({ratio - 1:+.1%})",
                abs(ratio - 1) < 0.1,
            )
    draw(study, every)


def draw(study: Study, every: Mapping[str, Mapping[int, Found]]) -> None:
    """Maximum, 99th percentile and median of latency by the number of connections."""
    with paper():
        made = figure(3.4, width_in=8)
        for axes, (algorithm, curve) in zip(made.subplots(1, 2, sharey=True), every.items(), strict=True):
            connections = [2 * instances for instances in curve]
            axes.plot(connections, [found.most for found in curve.values()], "o-", label="maximum")
            axes.plot(connections, [found.late for found in curve.values()], "s-", label="99th percentile")
            axes.plot(connections, [found.middle for found in curve.values()], "^-", label="median")
            axes.set(xscale="log", xlabel="connections of the gateway", title=algorithm)
            axes.set_xticks(connections, [str(number) for number in connections])
            axes.minorticks_off()
        most = max(found.most for curve in every.values() for found in curve.values())
        made.axes[0].set(ylabel="latency [ms]", ylim=(0, 1.05 * most))
        made.axes[0].legend(fontsize=8)
        study.figure(made, "figure7")
