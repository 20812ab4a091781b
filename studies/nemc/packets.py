"""Figure 5: when packets come to an emulator and when they leave it, as tcpdump sees them in the hosts."""

import struct
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

SCENARIO = Path(__file__).parent / "packets.yaml"
CLOCKS = {"exact": "Longhaul (NemC)", "rtc": "8192 Hz (NIST Net)"}
DELAY_US = 250
HEADERS = 28
"""Of IPv4 and UDP."""

Seen = list[tuple[float, float]]
"""When each packet came to the emulator, and when it left it, in us."""


def study_packets(study: Study) -> None:
    """Capture in all four hosts, draw two milliseconds, judge the claim."""
    folder = study.directory / "captures"
    folder.mkdir(exist_ok=True)
    text = SCENARIO.read_text(encoding="utf-8")
    capture = "tcpdump -i eth0 -s 64 -Z root --time-stamp-precision=nano -w {}.pcap udp"
    programs = "".join(
        f"  {host}: {{run: {capture.format(host)}, host: {host}, service: true, cwd: '{folder}'}}\n"
        for host in ("exact-a", "exact-b", "rtc-a", "rtc-b")
    )
    path = study.directory / "runs" / "packets.yaml"
    path.write_text(f"{text}\nprograms:\n{programs}", encoding="utf-8")
    result = longhaul.run_live(path, runs=study.directory / "runs", report=False)
    late = result.summary["fidelity"]["lateness"]
    study.say(
        f"packets, {result.verdict}: lateness p50 {late['p50_ns'] / 1e3:.2f} us, "
        f"p99 {late['p99_ns'] / 1e3:.1f} us"
    )
    seen = {clock: joined(folder, clock) for clock in CLOCKS}
    held = {clock: sorted(left - came for came, left in rows) for clock, rows in seen.items()}
    for clock, values in held.items():
        share = len(values) // 100
        study.say(
            f"{CLOCKS[clock]}: {len(values)} packets held for {median(values):.1f} us"
            f" (98 % of them {values[share]:.1f} to {values[-1 - share]:.1f} us)"
        )
    study.claim(
        "without ticks packets are held for 250 us (the median within 10)",
        abs(median(held["exact"]) - DELAY_US) < 10,
    )
    # Between two and three ticks of 122 us: a tenth is above 354.
    longest = held["rtc"][len(held["rtc"]) * 9 // 10]
    study.claim(
        f"at 8192 Hz a tenth is held for over 350 us ({longest:.0f}; the paper: 40 % more)", longest > 350
    )
    draw(study, seen)


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


def draw(study: Study, seen: Mapping[str, Seen]) -> None:
    """Two milliseconds of each, from the middle."""
    with paper():
        made = figure(3.2, width_in=9)
        for axes, clock in zip(made.subplots(1, 2, sharex=True, sharey=True), seen, strict=True):
            rows = seen[clock][len(seen[clock]) // 2 :]
            begin = rows[0][0]
            rows = [row for row in rows if row[0] < begin + 2000]
            number = range(1, len(rows) + 1)
            came = [row[0] - begin for row in rows]
            axes.plot(came, number, "o", markersize=4, fillstyle="none", label="came")
            axes.plot([row[1] - begin for row in rows], number, "s", markersize=3, label="left")
            axes.set(xlabel="time [us]", xlim=(0, 2000))
            axes.set_title(f"{CLOCKS[clock]}, {DELAY_US} us")
        made.axes[0].set_ylabel("packet")
        made.axes[0].legend()
        study.figure(made, "packets")
