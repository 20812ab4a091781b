"""Socket buffers that commands ask for, compared with the limits of the machine."""

from pathlib import Path

import pytest

from longhaul.run.socket_buffers import concerns
from longhaul.scenario import parse_scenario, resolve

PLAN = resolve(
    parse_scenario(
        b"version: 1\nname: pair\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\n"
        b"links: {wan: {endpoints: [a, b], delay: 20ms, rate: 1Gbit}}\n",
        name="pair.yaml",
    )
).plan
MIB = 1 << 20


def machine(root: Path, **limits: int) -> Path:
    core = root / "net/core"
    core.mkdir(parents=True)
    for name, value in limits.items():
        (core / name).write_text(f"{value}\n")
    return root


@pytest.mark.parametrize(
    "command",
    [
        ["iperf3", "-c", "far", "-w", "48M"],
        ["/usr/bin/iperf3", "-w48M", "-c", "far"],
        ["iperf3", "--window=48m", "-c", "far"],
        ["sh", "-c", "sleep 1; iperf3 -c far --window 48M"],
    ],
)
def test_a_buffer_above_the_limit_is_reported_with_the_sysctl_that_allows_it(
    command: list[str], tmp_path: Path
) -> None:
    system = machine(tmp_path, rmem_max=4 * MIB, wmem_max=64 * MIB)
    (warning,) = concerns([["true"], command], PLAN, system=system)
    assert warning.code == "W0305"
    assert 'iperf3 will end with "socket buffer size not set correctly"' in warning.message
    assert warning.remedy is not None
    assert f"sudo sysctl -w net.core.rmem_max={48 * MIB};" in warning.remedy
    assert "wmem_max" not in warning.remedy


def test_the_kernel_doubles_buffers_so_that_iperf3_accepts_twice_the_limit(tmp_path: Path) -> None:
    system = machine(tmp_path, rmem_max=4 * MIB, wmem_max=4 * MIB)
    (warning,) = concerns([["iperf3", "-c", "far", "-w", "8M"]], PLAN, system=system)
    assert "will get smaller socket buffers than it asks for" in warning.message


@pytest.mark.parametrize(
    "command", [["iperf3", "-c", "far", "-w", "4M"], ["wget", "-w", "48M"], ["iperf3", "-w"], []]
)
def test_commands_within_the_limit_or_of_other_programs_are_not_reported(
    command: list[str], tmp_path: Path
) -> None:
    system = machine(tmp_path, rmem_max=4 * MIB, wmem_max=4 * MIB)
    assert concerns([command], PLAN, system=system) == ()


def test_a_machine_that_does_not_show_its_limits_is_not_judged(tmp_path: Path) -> None:
    assert concerns([["iperf3", "-c", "far", "-w", "48M"]], PLAN, system=tmp_path) == ()
