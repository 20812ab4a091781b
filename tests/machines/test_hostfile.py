"""Hostfiles, and allocations of Slurm."""

import sys
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.machines.hostfile import Machine, from_slurm, machines_of


def machines(place: Path, text: str) -> list[Machine]:
    path = place / "hostfile"
    path.write_text(text)
    return machines_of(str(path))


def test_each_line_is_a_machine(tmp_path: Path) -> None:
    text = (
        "# the grid\nlocalhost cores=4\n\ngw1\n"
        "gw2 ssh=user@10.0.0.2 address=192.168.0.2 python=/opt/bin/python3\n"
    )
    local, first, second = machines(tmp_path, text)
    assert local == Machine("localhost", (), "localhost", 4, sys.executable)
    assert first.command == ("ssh", "-o", "BatchMode=yes", "-T", "gw1", "--")
    assert (first.address, first.cores) == ("gw1", None)
    assert second.command[-2:] == ("user@10.0.0.2", "--")
    assert (second.address, second.python) == ("192.168.0.2", "/opt/bin/python3")


def test_the_address_is_that_of_ssh_without_the_user(tmp_path: Path) -> None:
    assert machines(tmp_path, "a ssh=user@10.0.0.2\nb\n")[0].address == "10.0.0.2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gw1\ngw1\n", "machine gw1 is listed twice"),
        ("gw1\n", "needs at least 2, not 1"),
        ("", "needs at least 2, not 0"),
        ("gw1 cores=many\ngw2\n", "hostfile:1: cores=many is not a number of CPU cores"),
        ("gw1\ngw2 speed=9\n", "hostfile:2: speed=9 is not an option of a machine"),
        ("gw1\ngw2 address=\n", "hostfile:2: address= is not an option of a machine"),
        ("cores=4 gw1\ngw2\n", "hostfile:1: cores=4: a line begins with the name of a machine"),
        ("../x\ngw2\n", "hostfile:1: ../x: a line begins with the name of a machine"),
        ("gw1 ssh=-oProxyCommand=x\ngw2\n", "hostfile:1: -oProxyCommand=x is not a host"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(LonghaulError, match="hostfile") as error:
        machines(tmp_path, text)
    assert said in str(error.value)
    assert error.value.remedy


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(LonghaulError) as error:
            machines_of(str(path))
        assert str(path) in str(error.value)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(LonghaulError, match="is not UTF-8 text"):
        machines_of(str(tmp_path / "binary"))


def test_outside_of_an_allocation_the_remedy_is_salloc() -> None:
    with pytest.raises(LonghaulError, match="salloc"):
        from_slurm({})
