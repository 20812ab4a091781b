"""How fast ``read_capture`` is, and how much memory it takes: one capture of 5 million packets.

One flow of TCP, captured at its sender, with headers of 52 bytes and acknowledgements of every other packet;
each thousandth packet is lost and retransmitted. Rates are packets per second of CPU time. tcptrace, if it is
installed (``apt-get install tcptrace``), reads the same file. Writes ``bench/captures.json``.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from figures import Row, measure_all, row
from simulators import run

PACKETS = 5_000_000

MSS = 1_448
EVERY = 1_000
WINDOW = 400
"""Packets between a loss and its repetition: a round trip of 4 ms at 100,000 packets a second."""
PACKET = np.dtype(
    [
        ("second", "<u4"),
        ("microsecond", "<u4"),
        ("captured", "<u4"),
        ("length", "<u4"),
        ("version", "u1"),
        ("service", "u1"),
        ("total", ">u2"),
        ("ident", ">u2"),
        ("fragment", ">u2"),
        ("hops", "u1"),
        ("protocol", "u1"),
        ("check", ">u2"),
        ("source", ">u4"),
        ("destination", ">u4"),
        ("source_port", ">u2"),
        ("destination_port", ">u2"),
        ("sequence", ">u4"),
        ("acknowledgement", ">u4"),
        ("offset", "u1"),
        ("flags", "u1"),
        ("window", ">u2"),
        ("tcp_check", ">u2"),
        ("urgent", ">u2"),
        ("padding", ">u4"),
        ("stamp", ">u4"),
        ("echo", ">u4"),
    ]
)


def write(path: Path, packets: int) -> int:
    """Write a capture of about so many packets; returns how many of them are lost."""
    header = np.array([0xA1B2C3D4, 2 | 4 << 16, 0, 0, 65_535, 101], dtype="<u4")
    lost = 0
    with path.open("wb") as file:
        file.write(header.tobytes())
        for begin in range(0, packets, 300_000):
            part, losses = _part(begin, min(300_000, packets - begin))
            file.write(part.tobytes())
            lost += losses
    return lost


def _part(begin: int, packets: int) -> tuple[np.ndarray, int]:
    """Data, two in three, and acknowledgements, one in three."""
    data = np.arange(packets * 2 // 3)
    first = begin * 2 // 3
    number = first + data
    lost = data[(data % EVERY == EVERY // 2) & (data + 2 * WINDOW < len(data))]
    again = lost + WINDOW
    segment = np.concatenate((number, first + lost))
    place = np.concatenate((data.astype(float), again - 0.5))
    # What is acknowledged is a window behind, and waits at a hole for a window more.
    acked = np.arange(2, len(data), 2)
    reached = np.maximum(acked - WINDOW, 0)
    hole = (reached - EVERY // 2) // EVERY * EVERY + EVERY // 2
    waiting = (hole >= 0) & (reached > hole) & (reached <= hole + WINDOW) & np.isin(hole, lost)
    below = first + np.where(waiting, hole, reached)
    ack = np.concatenate((np.zeros(len(segment), bool), np.ones(len(acked), bool)))
    value = np.concatenate((segment, below))
    place = np.concatenate((place, acked + 0.25))
    order = np.argsort(place, kind="stable")
    ack, value, place = ack[order], value[order], first + place[order]
    part = np.zeros(len(order), PACKET)
    microseconds = (place * 10).astype(np.int64)
    part["second"], part["microsecond"] = np.divmod(microseconds, 1_000_000)
    part["captured"] = 52
    part["length"] = part["total"] = np.where(ack, 52, 52 + MSS)
    part["version"], part["hops"], part["protocol"] = 0x45, 64, 6
    part["ident"] = np.arange(len(order)) % 65_535 + 1
    part["source"] = np.where(ack, 0x0A000002, 0x0A000001)
    part["destination"] = np.where(ack, 0x0A000001, 0x0A000002)
    part["source_port"] = np.where(ack, 5201, 40_000)
    part["destination_port"] = np.where(ack, 40_000, 5201)
    part["sequence"] = np.where(ack, 1, (value * MSS) % 2**32)
    part["acknowledgement"] = np.where(ack, (value * MSS) % 2**32, 1)
    part["offset"], part["flags"] = 8 << 4, 16
    part["padding"] = 0x0101080A
    part["stamp"] = microseconds // 1_000
    part["echo"] = np.where(ack, np.maximum(microseconds - 10 * WINDOW, 0) // 1_000, 0)
    return part, len(lost)


READ = """
import json, sys
from pathlib import Path
from longhaul.traces.captures import read_capture
capture = read_capture(Path(sys.argv[1]))
print(json.dumps([capture.packets, sum(len(flow.losses.at_ns) for flow in capture.flows)]))
"""


def reading(rounds: int) -> list[Row]:
    """Packets a second of CPU time, memory, and losses found, for ours and for tcptrace."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="longhaul-captures-") as temporary:
        path = Path(temporary) / "transfer.pcap"
        lost = write(path, PACKETS)
        empty = run([sys.executable, "-c", "import longhaul.traces.captures, numpy"]).cpu_s

        def ours(path: Path) -> tuple[float, float, int]:
            """Million packets a second, MB, and losses."""
            ran = run([sys.executable, "-c", READ, str(path)])
            read, found = json.loads(ran.output)
            return read / (ran.cpu_s - empty) / 1e6, ran.peak_bytes / 1e6, found

        found = [ours(path) for _ in range(rounds)]
        rate, memory = median(each[0] for each in found), max(each[1] for each in found)
        same = all(each[2] == lost for each in found)
        rows.append(row(f"capture of {PACKETS:,} packets, read", rate, "M/s", "at least 1", rate >= 1))
        rows.append(row("  peak memory, with Python", memory, "MB", "at most 300", memory <= 300))
        rows.append(row("  losses found", found[0][2] / lost, "of all", "1", same))
        if shutil.which("tcptrace"):
            peer = [run(["tcptrace", "-n", str(path)]) for _ in range(rounds)]
            rate = PACKETS / median(each.cpu_s for each in peer) / 1e6
            rows.append(row("tcptrace, the same capture", rate, "M/s", "", True))
        for pack, suffix in (("gzip", "gz"), ("zstd", "zst")):
            if shutil.which(pack):
                subprocess.run([pack, "-kq", str(path)], check=True)
                packed = path.with_name(f"{path.name}.{suffix}")
                rate = median(ours(packed)[0] for _ in range(rounds))
                rows.append(row(f"the same, packed by {pack}", rate, "M/s", "", True))
    return rows


if __name__ == "__main__":
    measure_all(__doc__, {"reading": reading}, Path(__file__).parent / "captures.json")
