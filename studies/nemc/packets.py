"""Figure 5: when packets come to an emulator and when they leave it, as tcpdump sees them in the hosts."""

import struct
from pathlib import Path
from typing import Any

from matplotlib.ticker import MaxNLocator

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, at_least, between, measured
from longhaul.studies.drawing import colour, draw_measured, draw_paper, legend_below

SCENARIO = Path(__file__).parent / "packets.yaml"
EMULATORS = {"exact": "NemC", "rtc": "NISTNet"}
"""Whose place each clock takes."""
CLOCKS = {"exact": "Longhaul (as NemC)", "rtc": "8192 Hz (as NIST Net)"}
HEADERS = 28
"""Of IPv4 and UDP."""

Seen = list[tuple[float, float]]
"""When each packet came to the emulator, and when it left it, in us."""


def study_packets(study: Study, *, rounds: int) -> None:
    """Capture in all four hosts, evaluate the claims."""
    rows: list[dict[str, float]] = []
    for number in range(rounds):
        found = study.measured(f"packets/{number}", lambda: one_round(study))
        if found is None:
            continue
        rows += [{"round": number, **each} for each in found["held"]]
        seen = found["seen"]
    study.table("packets-held", rows)
    study.table(
        "packets-seen",
        [
            {"clock": clock, "came_us": round(came, 1), "left_us": round(left, 1)}
            for clock, pairs in seen.items()
            for came, left in pairs
        ],
    )
    by_clock = {clock: [row for row in rows if row["clock"] == clock] for clock in CLOCKS}
    exact, rtc = (
        {key: measured([row[key] for row in by_clock[clock]]) for key in ("p50_us", "p90_us", "p99_us")}
        for clock in CLOCKS
    )
    study.value("exact-median", exact["p50_us"], "µs")
    study.value("rtc-median", rtc["p50_us"], "µs")
    limits = study.numbers("packets-accurate")
    low, high = (limits["delay_us"] + sign * limits["within_us"] for sign in (-1, 1))
    study.evaluate("packets-accurate", between("", exact["p50_us"], low, high, "µs"))
    more_us = study.numbers("packets-late")["more_us"]
    study.evaluate(
        "packets-late",
        [
            at_least(what, rtc[key], more_us, "µs")
            for what, key in (
                ("median", "p50_us"),
                ("90th percentile", "p90_us"),
                ("99th percentile", "p99_us"),
            )
        ],
    )


def one_round(study: Study) -> dict[str, Any]:
    """How long packets are held by either clock, and two milliseconds of each."""
    folder = study.directory / "captures"
    folder.mkdir(exist_ok=True)
    text = SCENARIO.read_text(encoding="utf-8")
    capture = "tcpdump -i eth0 -s 64 -Z root --time-stamp-precision=nano -w {}.pcap udp"
    programs = "".join(
        f"  {host}: {{run: {capture.format(host)}, host: {host}, service: true, cwd: '{folder}'}}\n"
        for host in ("exact-a", "exact-b", "rtc-a", "rtc-b")
    )
    path = study.runs / "packets.yaml"
    path.write_text(f"{text}\nprograms:\n{programs}", encoding="utf-8")
    study.ran(longhaul.run_live(path, runs=study.runs, report=False))
    seen = {clock: joined(folder, clock) for clock in CLOCKS}
    held = []
    for clock, rows in seen.items():
        values = sorted(left - came for came, left in rows)
        at = [round(values[len(values) * share // 1000], 2) for share in (10, 500, 900, 990)]
        held.append(
            {"clock": clock, "packets": len(values)}
            | dict(zip(("p1_us", "p50_us", "p90_us", "p99_us"), at, strict=True))
            | {"max_us": round(values[-1], 2)}
        )
    return {"held": held, "seen": {clock: snapshot(rows) for clock, rows in seen.items()}}


def snapshot(rows: Seen) -> Seen:
    """Two milliseconds from the middle."""
    rows = rows[len(rows) // 2 :]
    begin = rows[0][0]
    return [(came - begin, left - begin) for came, left in rows if came < begin + 2000]


def joined(folder: Path, clock: str) -> Seen:
    """Packets of a flow that are in the captures of both hosts, known by their first bytes."""
    sent, received = (stamps(folder / f"{clock}-{end}.pcap") for end in "ab")
    return [(out, received[key]) for key, out in sent.items() if key in received]


def stamps(path: Path) -> dict[bytes, float]:
    """The time of each datagram in a capture with nanoseconds, in us since its first hour."""
    data = path.read_bytes()
    if struct.unpack_from("<I", data)[0] != 0xA1B23C4D:
        raise SystemExit(f"{path}: no capture of this machine's order with nanoseconds")
    times, place = {}, 24
    while place + 16 <= len(data):
        seconds, nanoseconds, length, _whole = struct.unpack_from("<IIII", data, place)
        begin = place + 16 + HEADERS
        times[data[begin : begin + 16]] = (seconds % 3600) * 1e6 + nanoseconds / 1e3
        place += 16 + length
    return times


def draw(figures: Figures) -> None:
    """Figure 5: two milliseconds of each, and how long packets are held in every round."""
    seen, held = figures.rows("packets-seen"), figures.rows("packets-held")
    delay_us = figures.numbers("packets-accurate")["delay_us"]
    quantiles = {"p50_us": "median", "p90_us": "90th percentile", "p99_us": "99th percentile"}
    with paper():
        made = figure(3.5, width_in=10.5)
        came, left, times = made.subplots(1, 3)
        for axes, (clock, label), panel in zip((came, left), CLOCKS.items(), ("5a", "5b"), strict=True):
            rows = [row for row in seen if row["clock"] == clock]
            number = range(1, len(rows) + 1)
            axes.plot(
                [row["came_us"] for row in rows], number, "o", markersize=4, fillstyle="none", label="arrival"
            )
            axes.plot([row["left_us"] for row in rows], number, "s", markersize=3, label="departure")
            axes.set(xlabel="time [µs]", xlim=(0, 2000), ylabel="packet")
            axes.set_title(f"figure {panel}: {label}, {delay_us} µs")
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        for place, (key, label) in enumerate(quantiles.items()):
            found = [measured([row[key] for row in held if row["clock"] == clock]) for clock in CLOCKS]
            draw_measured(
                times,
                [number + 0.18 * (place - 1) for number in range(len(CLOCKS))],
                found,
                marker="o^v"[place],
                line="",
                color=colour(place + 2),
                label=label,
            )
        places = {name: number + 0.36 for number, name in enumerate(EMULATORS.values())}
        draw_paper(times, [*figures.paper.values("5a"), *figures.paper.values("5b")], places=places)
        times.set_xticks(range(len(CLOCKS)), [label.replace(" (", "\n(") for label in CLOCKS.values()])
        times.margins(y=0.15)
        times.set(xlim=(-0.5, len(CLOCKS) - 0.4), ylim=(0, None), ylabel="a packet is held [µs]")
        times.set_title("time in the emulator")
        times.grid(axis="x", visible=False)
        legend_below(made, ncols=6)
        figures.add(made, "figure-5", data=["packets-seen", "packets-held"])
