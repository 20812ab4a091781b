"""TCP flows over time, from the records of simulated flows and of real hosts."""

from pathlib import Path
from typing import Any

from longhaul.page.sampling import together
from longhaul.results.connections import ConnectionMonitor

PLAN: Any = {
    "nodes": [{"name": "a", "ipv4": "10.0.0.1"}, {"name": "b", "ipv4": "10.0.0.2", "ipv6": "fd00::2"}]
}
TRAFFIC = [{"name": "bulk", "kind": "tcp", "program": "bulk", "from": "a", "to": "b", "simulated": False}]
FLOWS = "t_ns,flow,stream,received_bytes,window_segments,rtt_ns,retransmits\n"
SOCKETS = "t_ns,host,socket,local,remote,cwnd_segments,rtt_us,retransmits,acked_bytes\n"


def monitor(directory: Path, traffic: Any = TRAFFIC) -> ConnectionMonitor:
    (directory / "raw").mkdir(exist_ok=True)
    return ConnectionMonitor(directory, PLAN, traffic)


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_goodput_and_retransmissions_are_those_of_each_interval(tmp_path: Path) -> None:
    traffic = [{**TRAFFIC[0], "simulated": True}]
    found, flows = monitor(tmp_path, traffic), tmp_path / "raw" / "flows.csv"
    assert found.read() == [], "nothing is written yet"
    append(flows, FLOWS + "0,bulk,0,0,10,,0\n100000000,bulk,0,125000,20.6,5000,3\n")
    first, second = found.read()
    assert (first.name, first.goodput_bits_per_s, first.rtt_ns, first.cwnd_segments) == (
        "bulk a → b",
        None,
        None,
        10,
    )
    # 125 kB in 0.1 s are 10 Mbit/s.
    assert second[1:] == (100_000_000, 1e7, 5000, 21, 3)
    append(flows, "200000000,bulk,0,125000,20,5000,3\n300000000,bu")
    (third,) = found.read()
    assert (third.goodput_bits_per_s, third.retransmits) == (0, 0)
    append(flows, "lk,0,250000,20,5000,4\n")
    assert found.read()[0].retransmits == 1, "a line that was not complete is read once it is"


def test_real_connections_have_the_names_of_the_scenario(tmp_path: Path) -> None:
    found, sockets = monitor(tmp_path), tmp_path / "raw" / "sockets.csv"
    rows = [
        "1,a,7,10.0.0.1:5,10.0.0.2:6,10,76500,0,20000",
        "1,b,8,10.0.0.2:6,10.0.0.1:5,10,76500,0,0",
        "1,a,9,10.0.0.1:6,[fd00::2]:6,10,0,0,30000",
        "1,b,4,10.0.0.2:9,192.0.2.1:80,10,1,0,40000",
        "1,a,3,10.0.0.1:8,10.0.0.2:5201,10,1,0,900",
    ]
    append(sockets, SOCKETS + "\n".join(rows) + "\n")
    points = found.read()
    assert [each.name for each in points] == ["bulk a → b", "bulk a → b (2)", "b → 192.0.2.1:80"]
    assert [each.rtt_ns for each in points] == [76_500_000, None, 1000], "0 is no measurement"


def test_intervals_together_are_one(tmp_path: Path) -> None:
    found = monitor(tmp_path)
    rows = [
        f"{t}00000000,bulk,0,{sent},10,{rtt},{lost}\n"
        for t, sent, rtt, lost in ((1, 0, 5, 0), (2, 125_000, 9, 2))
    ]
    append(tmp_path / "raw" / "flows.csv", FLOWS + "".join(rows) + "300000000,bulk,0,125000,30,6,3\n")
    assert together(found.read()) == {
        "name": "bulk a → b",
        "t_ns": 300_000_000,
        "goodput_bits_per_s": 5_000_000,
        "rtt_ns": 9,
        "cwnd_segments": 30,
        "retransmits": 3,
    }
