"""What runs on several machines do for their programs and captures as a run on one does."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from machine_room import MachineRoom, machine_room, missing
from two_machines import (
    COMMAND,
    asked,
    assert_nothing_left,
    assert_ran,
    engine_of,
    environment,
    run,
    running,
    scenario,
    summary_of,
)

from longhaul.results.growing_captures import GrowingCapture, packet_of

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineRoom]:
    with machine_room(tmp_path_factory.mktemp("room"), 2, monotonic_s=(0, 1_000)) as found:
        yield found


def test_packets_of_a_link_that_is_cut_are_shown_in_order_while_the_run_is_running(
    room: MachineRoom, work: Path
) -> None:
    with running(room, scenario(work, duration="60s", delay="20ms")) as process:
        shown = asked(room, work, "capture", "atlantic", "-c", "30").splitlines()
        with subprocess.Popen(
            room.at_switch(COMMAND, "capture", "atlantic", "--at", "nyc", "-w", str(work / "nyc.pcapng")),
            cwd=work,
            env=environment(work),
            stderr=subprocess.PIPE,
            text=True,
        ) as capturing:
            assert capturing.stderr
            assert capturing.stderr.readline().startswith("capturing atlantic at ")
            time.sleep(4)
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=60)
            # It has the packets up to the end of the run.
            told = capturing.communicate(timeout=60)[1]
    assert process.returncode == 130, out + errors
    # Requests are known to one machine, replies to the other, whose clock is 1000 s ahead.
    requests = [line for line in shown if " onto par1 > nyc1 ICMP echo request" in line]
    replies = [line for line in shown if " off  nyc1 > par1 ICMP echo reply" in line]
    assert min(len(requests), len(replies)) > 10, shown
    assert len(shown) == 30
    times_s = [float(line.split()[0]) for line in shown]
    assert times_s == sorted(times_s)
    of_request = {line.split("seq=")[1].split()[0]: float(line.split()[0]) for line in requests}
    of_reply = {line.split("seq=")[1].split()[0]: float(line.split()[0]) for line in replies}
    rtts_s = [of_reply[each] - of_request[each] for each in of_request if each in of_reply]
    assert len(rtts_s) > 8
    assert min(rtts_s) > 0.039
    assert sorted(rtts_s)[len(rtts_s) // 2] == pytest.approx(0.04, abs=0.004)
    captures = work / "runs/wan/latest-live/captures"
    assert sorted(each.name for each in captures.iterdir()) == ["atlantic@nyc.pcapng", "atlantic@par.pcapng"]
    blocks = list(GrowingCapture(captures / "atlantic@nyc.pcapng").blocks())
    written = list(GrowingCapture(work / "nyc.pcapng").blocks())
    # The last ones of the complete file, those that were shown before the end by an estimate of clocks.
    assert len(written) > 150
    ended = [packet_of(each).content for each in blocks[-len(written) :]]
    assert [packet_of(each).content for each in written] == ended
    assert f"{len(written)} packets; captured: " in told
    assert_nothing_left(room)


def test_a_program_starts_when_one_of_another_machine_has_ended(room: MachineRoom, work: Path) -> None:
    more = (
        "programs:\n"
        "  first: {host: nyc1, run: sh -c 'sleep 1; exit 3', expect_exit: 3}\n"
        "  second: {host: par1, start: after first, run: sleep 0.5}\n"
        "  missing: {host: par2, start: after second, run: ./not_there}\n"
        "  last: {host: nyc2, start: after missing, run: 'true'}\n"
    )
    path = scenario(work, more=more, without="duration: 3s\n")
    path.write_text(path.read_text().replace("every: 20ms}", "every: 20ms, stop: 1s}"))
    done = run(room, path)
    assert done.returncode in (1, 4), done.stderr + done.stdout
    summary = summary_of(work)
    programs = {each["name"]: each for each in summary["programs"]}
    assert programs["first"]["exit"] == 3, done.stderr + done.stdout
    assert programs["last"]["exit"] == 0
    # Also after one that could not start.
    assert programs["missing"]["error"]
    waits_s = [
        (programs[later]["start_ns"] - programs[earlier]["end_ns"]) / 1e9
        for earlier, later in (("first", "second"), ("second", "last"))
    ]
    # By the relation of the clocks, which is better than the time of a message.
    assert min(waits_s) > 0
    assert max(waits_s) < 0.5
    assert_nothing_left(room)


def test_journals_and_bins_of_two_machines_have_every_packet_at_its_picosecond(
    room: MachineRoom, work: Path
) -> None:
    more = "  bulk: {kind: tcp, from: par2, to: nyc2, stop: 2s, cc: reno}\n"
    more += "events:\n  - {at: 1s, link: atlantic, set: {delay: 50ms, loss: 1%}}\n"
    more += "measure: {monitor: {links: [atlantic], every: 5ms}}"
    done = run(room, scenario(work, more=more), "--journal")
    assert_ran(done)
    directory = work / "runs/wan/latest-live"
    assert sorted(path.name for path in (directory / "raw/journals").iterdir()) == [
        "m1.bin", "m2.bin", "shards.json",
    ]  # fmt: skip
    replayed = asked(room, work, "compare", "--replay", str(directory))
    packets = summary_of(work)["packets"]
    assert f"replayed {packets['injected']} packets and 2 changes of " in replayed
    (crossed,) = re.findall(r"(\d+) times a packet went to another engine", replayed)
    bins = pq.read_table(directory / "monitor.parquet").to_pylist()
    link = next(each for each in engine_of(work)["links"] if each["name"] == "atlantic")
    for way in ("forward", "reverse"):
        for kind in ("offered_packets", "delivered_packets", "lost_packets"):
            assert sum(each[kind] for each in bins if each["way"] == way) == link[way][kind]
        assert link[way]["delivered_packets"] > 100
    # Most packets cross the link, and some are lost there.
    assert 0.9 * packets["injected"] < int(crossed) <= packets["injected"]
    assert_nothing_left(room)
