"""What `run --watch` shows: from records with known numbers, and on a real terminal."""

import fcntl
import io
import json
import os
import pty
import struct
import sys
import termios
from pathlib import Path

from rich.console import Console

from longhaul.run.watching import LinkNow, Watch, link_table

SAMPLES = (
    "t_ns,link,way,offered_packets,offered_bytes,copied_packets,delivered_packets,delivered_bytes,wire_bytes,"
    "lost_packets,overflowed_packets,dropped_packets,down_packets,too_big_packets,"
    "waiting_packets,waiting_bytes,flying_packets\n"
)
PAIR = """
version: 1
name: pair
duration: 3s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
traffic:
  load: {kind: udp, from: a, to: b, rate: 5Mbit, simulated: true}
"""


def plan(directory: Path) -> None:
    way = {"rate": {"law": "constant", "bits_per_s": 8_000_000}, "bundle": None}
    link = {"name": "wan", "endpoints": [0, 1], "forward": way, "reverse": way}
    nodes = [{"kind": "router"}, {"kind": "router"}]
    (directory / "plan.json").write_text(json.dumps({"nodes": nodes, "links": [link], "events": []}))
    (directory / "raw").mkdir()


def test_a_row_is_the_average_of_the_latest_second(tmp_path: Path) -> None:
    plan(tmp_path)
    watch = Watch(tmp_path)
    assert watch.links() == []
    samples = tmp_path / "raw/samples.csv"
    idle = ",0" * 14
    samples.write_text(f"{SAMPLES}0,wan,forward{idle}\n0,wan,reverse{idle}\n")
    (tmp_path / "raw/lateness.csv").write_text(
        "t_ns,link,way,packets,sum_ns,le_500_ns,le_1000_ns,le_2000_ns\n0,wan,forward,0,0,0,0,0\n"
    )
    assert watch.links() == []
    with samples.open("a") as file:
        file.write(
            f"500000000,wan,forward,99,0,0,90,250000,400000,3,2,0,0,0,1,1000,0\n500000000,wan,reverse{idle}\n"
        )
    with (tmp_path / "raw/lateness.csv").open("a") as file:
        file.write("500000000,wan,forward,1000,0,500,990,1000\n")
    forward, reverse = watch.links()
    assert forward == LinkNow(
        name="wan",
        way="forward",
        access=False,
        throughput_bits_per_s=400_000 * 8 / 0.5,
        utilisation=400_000 * 8 / (8e6 * 0.5),
        queueing_delay_ns=1000 * 8 / 8e6 * 1e9,
        undelivered_packets=5,
        lateness_p99_ns=1000.0,
    )
    assert (reverse.way, reverse.throughput_bits_per_s, reverse.lateness_p99_ns) == ("reverse", 0.0, None)


def test_the_busiest_links_are_shown_as_far_as_there_is_room() -> None:
    links = [LinkNow(f"link{n}", "forward", False, 1e6 * n, 0.5, 1e6, n, 500.0) for n in range(30, 0, -1)]
    out = io.StringIO()
    Console(file=out, width=80).print(link_table(links, 10))
    lines = out.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[1].split() == [
        "link30",
        "->",
        "30",
        "Mbit/s",
        "████",
        "50",
        "%",
        "1",
        "ms",
        "30",
        "500",
        "ns",
    ]
    assert lines[-1].strip() == "and 21 more"
    assert max(map(len, lines)) <= 80


def test_a_terminal_shows_links_while_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(PAIR)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
        argv = [sys.executable, "-m", "longhaul.cli.main", "run", "pair.yaml", "--watch", "--no-report"]
        os.execv(sys.executable, argv)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    said = b""
    try:
        while part := os.read(terminal, 65536):
            said += part
    except OSError:  # the terminal's other end is gone
        pass
    finally:
        os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (0, 4), said.decode()
    rows = [
        line for line in said.decode().splitlines() if "wan" in line and "->" in line and "Mbit/s" in line
    ]
    # 5 Mbit/s of payload are 5.1 with headers; half of the link is in use.
    assert any(" 5." in row and "5" in row.partition("%")[0][-4:] for row in rows), said.decode()
