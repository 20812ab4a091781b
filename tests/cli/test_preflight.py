"""What commands say in advance, once the machine is measured."""

import json
import os
import platform
from pathlib import Path

from longhaul.results.certificate import processor, store_certificate

from .conftest import Command

SCENARIO = """\
version: 1
name: flood
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links: {ab: {endpoints: [a, b], delay: 1ms}}
traffic: {u: {kind: udp, from: a, to: b, rate: 1Mbit, size: 100B}}
"""


def test_what_is_too_much_is_told_before_and_stops_nothing(
    longhaul: Command, work: Path, environment: dict[str, str], monkeypatch
) -> None:

    monkeypatch.setenv("XDG_STATE_HOME", environment["XDG_STATE_HOME"])
    machine = {"kernel": platform.release(), "cpu": processor(), "cpus": os.cpu_count()}
    shown = {"faithful_packets_per_s": 1000, "faithful_bits_per_s": 10**9, "measured": "2026-01-01"}
    store_certificate({**machine, **shown})
    (work / "flood.yaml").write_text(SCENARIO)
    # 1 Mbit/s of 100 bytes.
    words = "flood.yaml:6:11: traffic.u: flows send 1,250 packets/s together at 0s; this machine was faithful"
    checked = longhaul("check", "flood.yaml")
    assert checked.returncode == 0
    assert words in checked.stdout
    (warning,) = json.loads(longhaul("show", "flood.yaml", "--json").stdout)["warnings"]
    assert (warning["severity"], warning["line"], warning["path"]) == ("warning", 6, "traffic.u")
    assert warning["message"].startswith("flows send 1,250 packets/s together at 0s; this machine was")
    examined = longhaul("doctor", "flood.yaml", "--no-self-test", "--json")
    found = {each["what"]: each for each in json.loads(examined.stdout)}
    assert found["flood"]["state"] == "poor"
    assert words in found["flood"]["detail"]
    assert found["flood"]["fix"] == "send larger packets, or fewer"
    assert found["certificate"]["detail"] == "1 Gbit/s, 1,000 packets/s on time; measured 2026-01-01"
    # A machine that was busy while it was measured.
    store_certificate({**machine, **shown, "faithful_bits_per_s": 0})
    busy = {each["what"]: each for each in json.loads(longhaul("doctor", "--no-self-test", "--json").stdout)}
    assert busy["certificate"]["state"] == "poor"
    assert "while nothing else runs" in busy["certificate"]["fix"]
    # Another number of processors: another machine.
    store_certificate({**machine, **shown, "cpus": 10_000})
    assert words not in longhaul("check", "flood.yaml").stdout
