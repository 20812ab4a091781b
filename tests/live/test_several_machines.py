"""Live runs on several machines: network namespaces with an sshd each, one with a clock of its own."""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import slurm
from machine_room import MachineRoom, machine_room, missing
from mpi_installations import HINT, INSTALLATIONS
from two_machines import (
    COMMAND,
    SCENARIO,
    agents,
    asked,
    assert_nothing_left,
    assert_ran,
    command,
    command_lines,
    engine_of,
    longhaul,
    run,
    running,
    scenario,
    summary_of,
)

from longhaul.results import pcapng

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

AHEAD_S = 1_000
"""How far ahead the clock of the second machine is."""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineRoom]:
    with machine_room(tmp_path_factory.mktemp("room"), 2, monotonic_s=(0, AHEAD_S)) as found:
        yield found


def test_packets_cross_with_the_delay_of_their_link_and_each_has_one_fate(
    room: MachineRoom, work: Path
) -> None:
    more = "  bulk: {kind: tcp, from: par2, to: nyc2, stop: 2s, cc: cubic}\n"
    more += "  file: {kind: tcp, from: nyc2, to: par2, bytes: 300kB, cc: cubic}"
    done = run(room, scenario(work, more=more))
    assert_ran(done)
    summary, engine = summary_of(work), engine_of(work)
    assert summary["probes"][0]["lost"] == 0
    assert summary["probes"][0]["received"] >= 100
    # Less would be a packet that came before it was due; ping prints a tenth of a millisecond.
    bounds_ns = sum(each["clock_bound_ns"] for each in summary["machines"]["crossings"])
    assert summary["probes"][0]["rtt_min_ns"] > 80e6 - 1e5 - bounds_ns
    bulk = next(flow for flow in summary["flows"] if flow["name"] == "bulk")
    assert bulk["bytes"] > 500_000
    file = next(flow for flow in summary["flows"] if flow["name"] == "file")
    assert file["bytes"] == 300_000
    assert file["end_ns"] is not None
    (check,) = bulk["checked"]
    assert abs(check["reported"] - check["counted"]) < 100_000
    packets = engine["packets"]
    assert packets["lost_between_machines"] == 0
    fates = sum(count for fate, count in packets.items() if fate not in ("injected", "copied", "replies"))
    assert packets["injected"] + packets["copied"] + packets["replies"] == fates
    first, second = (engine["machines"][name]["tunnel"] for name in ("m1", "m2"))
    # The second machine's clock is ahead, and the run's is not but for what was not known at the start.
    truth_ns = AHEAD_S * 10**9 - (second["start_ns"] - first["start_ns"])
    assert abs(truth_ns) < 5e6
    for each, offset_ns in ((first, truth_ns), (second, -truth_ns)):
        clock = each["peers"][0]["clock"]
        assert abs(clock["offset_ns"] - offset_ns) <= clock["bound_ns"] < 5e6
    record = json.loads((work / "runs/wan/latest-live/run.json").read_text())
    assert [each["name"] for each in record["machines"]] == ["m1", "m2"]
    assert record["cuts"] == [{"link": "atlantic", "delay_ns": 40_000_000}]
    assert_nothing_left(room)


def test_changes_captures_and_encryption_cross_too(room: MachineRoom, work: Path) -> None:
    more = (
        "events:\n  - {at: 1s, link: atlantic, set: {delay: 60ms}}\n"
        "  - {at: 2s, link: atlantic, down: true}\n"
        "measure: {packets: {links: [atlantic]}}"
    )
    done = run(room, scenario(work, more=more), "--tunnel", "encrypted")
    assert_ran(done)
    directory = work / "runs/wan/latest-live"
    summary = summary_of(work)
    assert [change["at_ns"] for change in summary["changes"]] == [1_000_000_000, 2_000_000_000]
    rtts = summary["probes"][0]
    assert rtts["rtt_min_ns"] < 90e6
    assert rtts["rtt_max_ns"] > 119e6
    assert rtts["lost_down"] > 10
    assert summary["packets"]["down"] > 10
    captured = sorted(path.name for path in (directory / "captures").iterdir())
    assert captured == ["atlantic@nyc.pcapng", "atlantic@par.pcapng"]
    content = (directory / "captures" / captured[0]).read_bytes()
    packets = [struct.unpack_from("<III", each, 8) for kind, each in pcapng.blocks(content) if kind == 6]
    stamps = [high << 32 | low for _, high, low in packets]
    assert stamps == sorted(stamps)
    # Requests come out of the link there, and replies go onto it; either machine saw one kind.
    for interface in (0, 1):
        assert sum(each[0] == interface for each in packets) > 60
    # Both took the same wall clock, although the machines have clocks of their own.
    assert stamps[-1] - stamps[0] < 3e9


def test_a_run_without_duration_ends_when_all_machines_are_idle(room: MachineRoom, work: Path) -> None:
    path = scenario(work, more="  few: {kind: ping, from: nyc2, to: par2, every: 20ms, count: 50}")
    text = path.read_text().replace("duration: 3s\n", "").replace("every: 20ms}", "every: 20ms, count: 25}")
    path.write_text(text)
    done = run(room, path)
    assert_ran(done)
    assert summary_of(work)["ended"] == "programs"
    assert [probe["sent"] for probe in summary_of(work)["probes"]] == [25, 50]
    # They ended at one time: each has heard what the other sent in all.
    assert [each["lost_packets"] for each in summary_of(work)["machines"]["crossings"]] == [0, 0]


RANKS = """\
import json
from mpi4py import MPI

world = MPI.COMM_WORLD
names = world.gather(MPI.Get_processor_name())
world.Bcast(bytearray(1 << 18))
if world.rank == 0:
    print(json.dumps(names))
"""


@pytest.mark.parametrize("name", ["mpich", "debian"])
def test_the_ranks_of_one_program_run_on_two_machines(room: MachineRoom, work: Path, name: str) -> None:
    launcher, library = found = INSTALLATIONS[name]
    if not found.exists:
        pytest.skip(HINT)
    (work / "ranks.py").write_text(RANKS)
    more = (
        "programs:\n  ring:\n    hosts: [par1..2, nyc1..2]\n"
        f"    env: {{MPI4PY_LIBMPI: {library}}}\n"
        f"    run: {launcher} -n 4 {sys.executable} {work}/ranks.py\n"
        "  fails:\n    hosts: [par2, nyc2]\n    expect_exit: 7\n"
        f"    run: [{launcher}, -n, '2', sh, -c, exit 7]"
    )
    path = scenario(work, more=more, delay="20ms")
    path.write_text(path.read_text().replace("duration: 3s\n", "").replace("every: 20ms}", "count: 2}"))
    done = run(room, path)
    directory = work / "runs/wan/latest-live"
    errors = "".join(each.read_text() for each in (directory / "logs").glob("*.err"))
    assert_ran(done)
    programs = {each["name"]: each["exit"] for each in summary_of(work)["programs"]}
    assert (programs["ring"], programs["fails"]) == (0, 7), errors
    assert json.loads((directory / "logs/ring.out").read_text()) == ["par1", "par2", "nyc1", "nyc2"]
    # A quarter of a megabyte went over the link that is cut.
    links = {(each["name"], each["way"]): each for each in summary_of(work)["links"]}
    assert links["atlantic", "forward"]["packets"]["delivered"] > 180
    assert_nothing_left(room)


def test_packets_that_the_machines_network_loses_make_the_run_invalid(room: MachineRoom, work: Path) -> None:
    rule = ["-p", "udp", "-m", "length", "--length", "140:400", "-m", "statistic", "--mode", "random"]
    rule += ["--probability", "0.3", "-j", "DROP"]
    at_switch = room.at_switch("iptables", "-I", "FORWARD", *rule)
    if subprocess.run(at_switch, capture_output=True, check=False).returncode != 0:
        pytest.skip("this kernel has no iptables with -m statistic")
    try:
        done = run(room, scenario(work))
    finally:
        subprocess.run(room.at_switch("iptables", "-F", "FORWARD"), check=True)
    assert done.returncode == 4, done.stderr + done.stdout
    assert "unintended drops of packets: the network between the machines lost them" in done.stdout
    assert engine_of(work)["packets"]["lost_between_machines"] > 10


def test_a_machine_that_dies_ends_the_run_and_leaves_the_others_records(
    room: MachineRoom, work: Path
) -> None:
    with running(room, scenario(work, duration="60s")) as process:
        time.sleep(1)
        began = time.monotonic()
        second = agents(room, "m2")
        assert second
        for pid in second:
            os.kill(pid, signal.SIGKILL)
        out, errors = process.communicate(timeout=60)
    assert process.returncode in (4, 70), out + errors
    assert "machine m2" in errors
    assert time.monotonic() - began < 15
    assert (work / "runs/wan/latest-live/machines/m1/raw/engine.json").is_file()
    assert_nothing_left(room)


def test_a_machine_whose_cable_is_cut_ends_the_run_within_seconds(room: MachineRoom, work: Path) -> None:
    with running(room, scenario(work, duration="60s")) as process:
        time.sleep(1)
        began = time.monotonic()
        room.unplug("m2")
        try:
            out, errors = process.communicate(timeout=60)
        finally:
            room.plug("m2")
    assert process.returncode in (4, 70), out + errors
    assert re.search(r"no datagram from machine m2 for 3 s|machine m2 has sent no message", errors), errors
    assert time.monotonic() - began < 30
    assert_nothing_left(room)


def test_ctrl_c_keeps_the_results_of_all_machines(room: MachineRoom, work: Path) -> None:
    with running(room, scenario(work, duration="60s")) as process:
        time.sleep(1.5)
        # `ip netns exec` becomes the command itself.
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, out + errors
    assert summary_of(work)["probes"][0]["received"] > 10
    # The machines ended at one time, so that packets on their way are not lost.
    assert engine_of(work)["packets"]["lost_between_machines"] == 0
    assert_nothing_left(room)


def test_a_run_whose_records_do_not_all_arrive_is_not_a_result(room: MachineRoom, work: Path) -> None:
    path = scenario(work)
    without_time = "from longhaul.cli.main import main; from longhaul.machines import coordinator; "
    without_time += "coordinator.END_S = 0.0; main()"
    line = [sys.executable, "-c", without_time, *command(room, path)[len(room.at_switch(COMMAND)) :]]
    done = subprocess.run(
        room.at_switch(*line), cwd=work, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "no records of m1, m2 arrived within 0 s of the end" in done.stderr
    assert_nothing_left(room)


def test_a_run_on_two_machines_is_watched_and_changed_as_that_on_one(room: MachineRoom, work: Path) -> None:
    port = slurm.free_port()
    options = (f"--prometheus=127.0.0.1:{port}",)
    more = "  load: {kind: udp, from: nyc2, to: par2, rate: 5Mbit}"
    with running(room, scenario(work, duration="60s", delay="20ms", more=more), *options) as process:
        scrape = ["curl", "-s", f"http://127.0.0.1:{port}/metrics"]
        metrics, deadline = "", time.monotonic() + 30
        while "longhaul_link_throughput" not in metrics and time.monotonic() < deadline:
            time.sleep(0.5)
            metrics = subprocess.run(
                room.at_switch(*scrape), capture_output=True, text=True, check=False
            ).stdout
        # Both directions of the link that is cut, each from its sender's machine, and programs of both.
        for way in ("forward", "reverse"):
            assert f'longhaul_link_delivered_packets_total{{link="atlantic",direction="{way}"}}' in metrics
        assert 'longhaul_program_up{program="rtt",host="par1"} 1' in metrics
        assert 'host="nyc2"} 1' in metrics
        status = json.loads(asked(room, work, "status", "--json"))
        assert status["engine"]["delivered_packets"] > 0
        assert {each["host"] for each in status["programs"]} >= {"par1", "nyc2"}
        # The change is made on the machines of both directions, at one time.
        said = asked(room, work, "set", "atlantic", "delay=80ms")
        asked(room, work, "set", "atlantic", "--reverse", "loss=5%")
        wrong = longhaul(room, work, "set", "atlantic", "delay=5")
        assert wrong.returncode == 2
        assert "has no unit" in wrong.stderr
        # A command runs in a host on whichever machine that is.
        assert "nyc2" in asked(room, work, "exec", "nyc2", "--", "hostname")
        assert asked(room, work, "exec", "par2", "--", "sh", "-c", "echo a  b; pwd").startswith("a b\n")
        assert longhaul(room, work, "exec", "nyc1", "--", "sh", "-c", "exit 7").returncode == 7
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, out + errors
    found = [each for each in summary_of(work)["changes"] if each["kind"] == "intervention"]
    assert [(each["words"], each["by"]) for each in found] == [(["delay=80ms"], "cli"), (["loss=5%"], "cli")]
    assert f"{found[0]['at_ns'] / 1e9:.6f} s" in said
    rtts = summary_of(work)["probes"][0]
    assert rtts["rtt_min_ns"] < 60e6
    assert rtts["rtt_max_ns"] > 159e6
    assert_nothing_left(room)


def test_a_network_on_two_machines_stays_up_until_it_is_taken_down(room: MachineRoom, work: Path) -> None:
    path = scenario(work, duration="1s")
    on = ["--on", str(room.hostfile), "--ssh", room.ssh]
    said = asked(room, work, "up", str(path), *on)
    assert "wan is up: 4 hosts" in said
    try:
        again = longhaul(room, work, "up", str(path), *on)
        assert again.returncode == 2
        assert "a run called wan is up" in again.stderr
        time.sleep(2)
        # Longer than its duration.
        status = json.loads(asked(room, work, "status", "--json"))
        assert status["engine"]["t_ns"] > 1_500_000_000
        reply = asked(room, work, "exec", "par2", "--", "ping", "-c", "2", "-i", "0.2", "nyc2")
        assert "2 received" in reply
        asked(room, work, "set", "atlantic", "down")
        lost = longhaul(room, work, "exec", "par2", "--", "ping", "-c", "1", "-W", "1", "nyc2")
        assert lost.returncode == 1
    finally:
        done = longhaul(room, work, "down", "--json")
    assert done.returncode in (0, 1, 4), done.stderr + done.stdout
    summary = json.loads(done.stdout)
    assert summary["ended"] == "stopped"
    assert [each["words"] for each in summary["changes"]] == [["down"]]
    assert summary["packets"]["lost_between_machines"] == 0
    assert longhaul(room, work, "status").returncode == 2
    assert_nothing_left(room)


def test_a_network_without_its_socket_is_taken_down_by_its_name(room: MachineRoom, work: Path) -> None:
    on = ["--on", str(room.hostfile), "--ssh", room.ssh]
    asked(room, work, "up", str(scenario(work)), *on)
    (work / "runtime/longhaul/wan.sock").unlink()
    refused = longhaul(room, work, "status")
    assert refused.returncode == 2
    assert "but its socket is gone" in refused.stderr
    done = longhaul(room, work, "down", "--name", "wan")
    assert done.returncode in (0, 1, 4, 130), done.stderr + done.stdout
    assert summary_of(work)["packets"]["lost_between_machines"] == 0
    assert_nothing_left(room)


def test_a_machine_that_dies_takes_a_network_down_that_stays_up(room: MachineRoom, work: Path) -> None:
    on = ["--on", str(room.hostfile), "--ssh", room.ssh]
    asked(room, work, "up", str(scenario(work)), *on)
    for pid in agents(room, "m2"):
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    record = work / "runs/wan/latest-live/run.json"
    while json.loads(record.read_text())["status"] == "running" and time.monotonic() < deadline:
        time.sleep(0.2)
    assert json.loads(record.read_text())["status"] == "crashed"
    assert "machine m2" in json.loads(record.read_text())["reason"]
    assert longhaul(room, work, "status").returncode == 2
    assert_nothing_left(room)


def test_no_command_line_has_the_key_of_the_run(room: MachineRoom, work: Path) -> None:
    with running(room, scenario(work, duration="60s")):
        lines = list(command_lines())
        workers = [line for line in lines if b"longhaul.run.worker" in line and b"partition" in line]
        assert workers
        for line in workers:
            assert not re.search(rb"[0-9a-f]{64}", line), line
    assert_nothing_left(room)


def test_nothing_is_left_of_a_coordinator_that_was_killed(room: MachineRoom, work: Path) -> None:
    with running(room, scenario(work, duration="60s")) as process:
        process.kill()
        process.communicate(timeout=60)
    assert_nothing_left(room)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("place: m2", "place: m9"), "nodes.nyc.place: m9 is not one of the machines m1, m2"),
        (("delay: 40ms", "delay: 100us"), "link atlantic: its delay of 100 µs is too small to cross from m1"),
        (
            ("delay: 40ms", "delay: 0ms"),
            "nyc, par are on several machines, but links without a delay join them",
        ),
    ],
)
def test_what_cannot_be_divided_is_refused_with_a_remedy(
    room: MachineRoom, work: Path, change: tuple[str, str], said: str
) -> None:
    path = scenario(work)
    path.write_text(path.read_text().replace(*change))
    done = run(room, path)
    assert done.returncode in (2, 3), done.stderr + done.stdout
    assert said in done.stderr
    assert "; " in done.stderr
    assert_nothing_left(room)


def test_an_agent_of_another_version_or_without_longhaul_is_named(room: MachineRoom, work: Path) -> None:
    path = scenario(work)
    hostfile = work / "hostfile"
    hostfile.write_text("m1 address=10.77.1.1\nm2 address=10.77.2.1 python=/usr/bin/false\n")
    argv = room.at_switch(COMMAND, "run", str(path), "--on", str(hostfile), "--ssh", room.ssh)
    done = subprocess.run(argv, cwd=work, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    assert "machine m2: no agent could be started there" in done.stderr
    assert_nothing_left(room)


def _logs(place: Path) -> str:
    """The ends of all logs of a Slurm."""
    return "\n".join(path.read_text(errors="replace")[-1500:] for path in sorted(place.glob("*.log")))


def test_the_batch_script_of_the_guide_runs_on_two_nodes_of_slurm(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    reason = slurm.missing()
    if reason:
        pytest.skip(reason)
    guide = (Path(__file__).parents[2] / "docs/how-to/several-machines.md").read_text()
    script = re.search(r"```bash\n(#!/bin/bash\n#SBATCH.*?)```", guide, re.DOTALL)
    assert script is not None
    work = tmp_path / "work"
    work.mkdir()
    text = re.sub(", place: m[12]", "", SCENARIO.format(duration="2s", delay="40ms", more=""))
    (work / "grid.yaml").write_text(text)
    (work / "job.sh").write_text(script[1])
    # A short path: Slurm has sockets below it.
    place = tmp_path_factory.mktemp("s")
    with slurm.running(place, cpus=2, nodes=2) as slurms:
        environment = {**slurms, "PATH": f"{Path(COMMAND).parent}:{slurms['PATH']}"}
        subprocess.run(["sbatch", "--output=job.out", "job.sh"], cwd=work, env=environment, check=True)
        # sbatch --wait asks more and more rarely.
        deadline = time.monotonic() + 120
        while subprocess.run(
            ["squeue", "--noheader"], env=environment, capture_output=True, check=True
        ).stdout.strip():
            assert time.monotonic() < deadline, _logs(place)
            time.sleep(0.5)
    printed = (work / "job.out").read_text() if (work / "job.out").is_file() else ""
    assert "passed" in printed, printed
    assert "node0" in printed
    assert "node1" in printed
    assert summary_of(work)["probes"][0]["received"] > 50
