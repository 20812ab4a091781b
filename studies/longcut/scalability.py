"""Figure 7: several instances of PingPong through one gateway, latency at worst, by both algorithms."""

import selectors
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from pingpong import LEAST, connect
from playing import SCENARIO, served

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, near, ratios
from longhaul.studies import measured as over
from longhaul.studies.drawing import MARKERS, colour, draw_measured, legend_below

INSTANCES = (1, 2, 5, 10, 20, 50)
"""Of PingPong; the gateway has two connections for each."""
ALGORITHMS = ("one-thread", "paper")
SECONDS = 4.0
COLUMNS = {"max_ms": "maximum", "p99_ms": "99th percentile", "median_ms": "median"}
PAUSE_S = 0.02


@dataclass(frozen=True)
class Measurement:
    """Of one run, in ms: what clients saw, and how late the gateway wrote."""

    middle: float
    late: float
    """At the 99th percentile."""
    most: float
    written_late: float
    """At the 99th percentile."""


def measured(study: Study, port: int, algorithm: str, instances: int) -> Measurement:
    """Run it once."""
    params = {
        "kind": "constant",
        "here": "benedict",
        "there": "roadrunner",
        "algorithm": algorithm,
        "target": str(port),
    }
    with longhaul.relay.running(SCENARIO, params=params, runs=study.runs) as relay:
        place = next(each for each in relay.listening if each.kind == "forward").place
        times = np.array(ping_pongs(place, instances)) * 1e3
    result = relay.stop()
    study.ran(result)
    table = result.table("messages")
    late = (np.array(table["out_ns"]) - np.array(table["in_ns"]) - np.array(table["wanted_ns"])) * 1e-6
    return Measurement(
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


def study_scalability(study: Study, *, rounds: int) -> None:
    """Every number of instances with both algorithms in every round; evaluate."""
    rows: list[dict[str, Any]] = []
    for number in range(rounds):
        for instances in INSTANCES:
            for algorithm in ALGORITHMS:
                key = f"scalability/{algorithm}/{instances}/{number}"
                found = study.measured(key, lambda a=algorithm, i=instances: one_run(study, a, i))
                what = {"algorithm": algorithm, "connections": 2 * instances, "round": number}
                rows += [{**what, **found}] if found else []
    study.table("figure7", rows)

    def values(algorithm: str, connections: int, column: str) -> list[float]:
        return [r[column] for r in rows if (r["algorithm"], r["connections"]) == (algorithm, connections)]

    within = study.numbers("gateway-scales")["within"]
    study.evaluate(
        "gateway-scales",
        [
            near(
                f"{COLUMNS[column]}, {algorithm}",
                ratios(values(algorithm, 40, column), values(algorithm, 2, column)),
                1,
                within,
            )
            for column in COLUMNS
            for algorithm in ALGORITHMS
        ],
    )


def one_run(study: Study, algorithm: str, instances: int) -> dict[str, float]:
    """One gateway with so many instances."""
    with served("127.32.0.11") as port:
        found = measured(study, port, algorithm, instances)
    return {
        "median_ms": round(found.middle, 3),
        "p99_ms": round(found.late, 3),
        "max_ms": round(found.most, 3),
        "written_late_p99_ms": round(found.written_late, 3),
    }


def draw(figures: Figures) -> None:
    """Figure 7: maximum, 99th percentile and median of latency by the number of connections."""
    rows = figures.rows("figure7")
    connections = sorted({row["connections"] for row in rows})
    with paper():
        made = figure(3.6, width_in=8)
        for axes, algorithm in zip(made.subplots(1, 2, sharey=True), ALGORITHMS, strict=True):
            mine = [row for row in rows if row["algorithm"] == algorithm]
            for number, (column, label) in enumerate(COLUMNS.items()):
                found = [
                    over([row[column] for row in mine if row["connections"] == each]) for each in connections
                ]
                style = {"marker": MARKERS[number], "color": colour(number)}
                draw_measured(axes, connections, found, label=label, **style)
            axes.set(xscale="log", xlabel="connections of the gateway", title=f"figure 7, {algorithm}")
            axes.set_xticks(connections, [str(number) for number in connections])
            axes.minorticks_off()
        made.axes[0].set(ylabel="latency [ms]", ylim=(0, None))
        legend_below(made)
        figures.add(made, "figure-7", data=["figure7"])
