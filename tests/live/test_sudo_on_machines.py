"""Runs on several machines whose processes start by sudo there."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine_room import MachineRoom, machine_room, missing
from two_machines import asked, assert_nothing_left, assert_ran, longhaul, run, scenario, summary_of

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

SUDO = """\
#!/bin/sh
# As sudo does, it leaves the caller's environment out.
test "$1 $2" = "-n --" || exit 1
shift 2
echo "$@" >> LOG
exec env -i PATH="$PATH" HOME=/root SUDO_UID=0 "$@"
"""
NO_PASSWORD = "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineRoom]:
    with machine_room(tmp_path_factory.mktemp("room"), 2) as found:
        yield found


@pytest.fixture(autouse=True)
def _without_sudo(room: MachineRoom) -> Iterator[None]:
    yield
    shutil.rmtree(room.programs)


def install(room: MachineRoom, text: str, log: Path) -> None:
    """Give the machines a program that is called sudo."""
    program = room.programs / "sudo"
    program.write_text(text.replace("LOG", str(log)))
    program.chmod(0o755)


def test_agents_start_by_sudo(room: MachineRoom, work: Path) -> None:
    log = work / "sudo.log"
    install(room, SUDO, log)
    assert_ran(run(room, scenario(work), "--sudo"))
    assert summary_of(work)["probes"][0]["received"] > 50
    lines = log.read_text().splitlines()
    assert len(lines) == 2
    assert all(line.endswith("-I -m longhaul.machines.agent") for line in lines)
    assert_nothing_left(room)


def test_commands_enter_hosts_by_sudo(room: MachineRoom, work: Path) -> None:
    log = work / "sudo.log"
    install(room, SUDO, log)
    scenario(work)
    asked(room, work, "up", "wan.yaml", "--on", str(room.hostfile), "--ssh", room.ssh, "--sudo")
    try:
        assert asked(room, work, "exec", "nyc1", "--", "hostname") == "nyc1\n"
        assert "-m longhaul.run.host_command" in log.read_text().splitlines()[-1]
    finally:
        longhaul(room, work, "down")
    assert_nothing_left(room)


@pytest.mark.parametrize(
    ("sudo", "said"),
    [
        (
            NO_PASSWORD,
            "no agent could be started there: sudo: a password is required; let your account there",
        ),
        (None, "sudo: "),
    ],
)
def test_a_machine_without_sudo_or_that_asks_for_a_password_is_refused(
    room: MachineRoom, work: Path, sudo: str | None, said: str
) -> None:
    if sudo is not None:
        install(room, sudo, work / "sudo.log")
    elif shutil.which("sudo"):
        pytest.skip("this machine has sudo")
    done = run(room, scenario(work), "--sudo")
    assert done.returncode == 3, done.stderr
    assert said in done.stderr
    assert "use sudo without a password (sudoers: NOPASSWD), and try: ssh" in done.stderr
    assert_nothing_left(room)
