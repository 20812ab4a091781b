"""Times on the virtual clock, against arithmetic."""

import json
import re
from itertools import pairwise
from pathlib import Path

from virtual_runs import BETWEEN_TWO, Run, program

import longhaul

ETHERNET_FREE_BYTES = 28
"""IPv4 and UDP headers; links count IP packets."""
ECHO = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7))
while True:
    data, peer = s.recvfrom(2000)
    s.sendto(data, peer)
"""
ASK = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((socket.getaddrinfo("b", 7, socket.AF_INET)[0][4]))
for size in (100, 500, 1400, 100):
    began = time.monotonic_ns()
    s.send(bytes(size))
    s.recv(2000)
    print(size, time.monotonic_ns() - began, flush=True)
"""


WAIT = """\
import time
t = time.monotonic_ns()
sum(range(10**6))
print(time.monotonic_ns() - t)
t = time.monotonic_ns()
while time.monotonic_ns() < t + 5_000_000:
    pass
print("ended")
"""


def _echo(work: Path) -> str:
    (work / "echo.py").write_text(ECHO)
    (work / "ask.py").write_text(ASK)
    return BETWEEN_TWO + (
        "programs:\n"
        "  echo: {run: python3 echo.py, hosts: [b], service: true}\n"
        "  ask: {run: python3 ask.py, hosts: [a], start: 500ms}\n"
    )


def test_an_echo_takes_what_arithmetic_says_to_the_nanosecond(run: Run, work: Path) -> None:
    ran = run(_echo(work))

    assert ran.code == 0, ran.stderr
    measured = [tuple(map(int, line.split())) for line in ran.log("ask.out").splitlines()]
    assert [size for size, _ in measured] == [100, 500, 1400, 100]
    for size, taken_ns in measured:
        serialisation_ns = (size + ETHERNET_FREE_BYTES) * 8 * 10
        assert taken_ns == 2 * (10_000_000 + serialisation_ns), size


def test_a_change_of_the_link_holds_from_its_instant_on(run: Run, work: Path) -> None:
    ran = run(
        BETWEEN_TWO
        + "events:\n  - {at: 1s, link: a-b, set: {delay: 20ms}}\n"
        + "programs:\n  ping: {run: ping -n -c 4 -i 0.4 b, hosts: [a], start: 200ms}\n",
        duration="3s",
    )

    assert ran.code == 0, ran.stderr
    times = [float(each) for each in re.findall(r"time=([0-9.]+) ms", ran.log("ping.out"))]
    # At 0.2 and 0.6 s, and at 1.0 and 1.4 s; ping shows three digits.
    assert times == [20.0, 20.0, 40.0, 40.0]


def test_time_does_not_pass_while_a_program_computes_and_waiting_by_the_clock_ends(run: Run) -> None:
    ran = run(program(WAIT))

    assert ran.code == 0, ran.stderr
    assert ran.log("p.out").split() == ["0", "ended"]


def test_a_sample_counts_what_was_offered_until_its_time(run: Run) -> None:
    # Hosts run on for 30 ms before the network does.
    far = BETWEEN_TWO.replace("10ms", "30ms")
    ran = run(f"{far}traffic:\n  load: {{kind: udp, from: a, to: b, rate: 1Mbit}}\n", duration="500ms")

    assert ran.code == 0, ran.stderr
    samples = [row.split(",") for row in (ran.directory / "raw/samples.csv").read_text().splitlines()[1:]]
    counted = [int(each[3]) for each in samples if each[1:3] == ["a-b", "forward"] and int(each[0]) <= 5e8]
    # Each 100 ms has as many packets at a constant rate, give or take one.
    added = [after - before for before, after in pairwise(counted)]
    assert len(added) == 5
    assert max(added) - min(added) <= 1, added


def test_a_transfer_of_a_size_ends_when_a_simulated_one_does(run: Run, tmp_path: Path) -> None:
    text = BETWEEN_TWO + "traffic:\n  file: {kind: tcp, from: a, to: b, bytes: 5MB, cc: reno, start: 100ms}\n"
    ran = run(text)
    assert ran.code == 0, ran.stderr
    (tmp_path / "two.yaml").write_text(text)
    simulated = longhaul.run_sim(tmp_path / "two.yaml", runs=tmp_path / "runs").summary
    (found,), (expected,) = ran.summary["flows"], simulated["flows"]
    assert found["bytes"] == expected["bytes"] == 5_000_000
    took, model = (each["end_ns"] - each["start_ns"] for each in (found, expected))
    assert abs(took / model - 1) < 0.03, (took, model)
    # The connection begins at its instant, not when a timer of the kernel fires a little later.
    assert json.loads(ran.log("file.out"))["lateness"]["max_ns"] == 0
