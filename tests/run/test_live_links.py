"""The links of a live run, from records with known numbers."""

import json
from pathlib import Path

from longhaul.run.live_links import LinkNow, Watch

SAMPLES = (
    "t_ns,link,way,offered_packets,offered_bytes,copied_packets,delivered_packets,delivered_bytes,wire_bytes,"
    "lost_packets,overflowed_packets,dropped_packets,down_packets,too_big_packets,"
    "waiting_packets,waiting_bytes,flying_packets\n"
)


def plan(directory: Path) -> None:
    way = {"rate": {"model": "constant", "bits_per_s": 8_000_000}, "bundle": None}
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
