"""A scenario of somebody else's may name any file: none is waited for, shown, or read without end."""

import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from longhaul.cli.main import longhaul as command
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular

SECRETS = {
    "shadow": "root:$6$hunter2$abcdef:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n",
    "key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1hunter2\n-----END OPENSSH PRIVATE KEY-----\n",
    "token": "hunter2 is the token\n",
    "environment": "PASSWORD=hunter2\nHOME=/home\n",
    "netrc": "machine example.org login me password hunter2\n",
    "two": "hunter2\nhunter3\n",
}
MODELS = {
    "delay": "delay: {trace: %s}",
    "rate": "rate: {trace: %s}",
    "opportunities": "rate: {opportunities: %s}",
    "losses": "loss: {model: recorded, file: %s, form: gaps}",
    "indices": "loss: {model: recorded, file: %s, form: indices}",
    "jitter": "delay: {base: 5ms, jitter: {dist: empirical, file: %s}}",
}


def scenario(place: Path, model: str, file: object) -> Path:
    path = place / "scenario.yaml"
    path.write_text(
        "version: 1\nname: t\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\n"
        f"links: {{wan: {{endpoints: [a, b], {MODELS[model] % file}}}}}\n"
    )
    return path


def check(path: Path) -> str:
    result = CliRunner().invoke(command, ["check", str(path)])
    assert result.exit_code == 2, result.output
    return result.output


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", SECRETS)
def test_no_line_of_a_file_that_is_no_trace_is_shown(tmp_path: Path, model: str, kind: str) -> None:
    (tmp_path / "secret").write_text(SECRETS[kind])
    said = check(scenario(tmp_path, model, "secret"))
    assert "hunter" not in said
    assert "secret" in said


@pytest.mark.parametrize("kind", SECRETS)
def test_no_line_of_a_file_is_shown_by_the_commands_for_traces(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_text(SECRETS[kind])
    result = CliRunner().invoke(command, ["trace", "validate", str(tmp_path / "secret")])
    assert result.exit_code != 0
    assert "hunter" not in result.output + str(result.exception)


def test_a_trace_with_a_wrong_number_still_shows_its_line(tmp_path: Path) -> None:
    (tmp_path / "delay.csv").write_text("t_s,delay_ms\n0,12\n1,twelve\n")
    assert "1,twelve" in check(scenario(tmp_path, "delay", "delay.csv"))


@pytest.fixture
def odd_files(tmp_path: Path) -> list[Path]:
    fifo, listener = tmp_path / "fifo", tmp_path / "socket"
    os.mkfifo(fifo)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listener))
    return [fifo, listener, Path("/dev/zero"), Path("/proc/kmsg"), Path("/proc/self/mem"), tmp_path]


def test_only_regular_files_are_read(tmp_path: Path, odd_files: list[Path]) -> None:
    for path in odd_files:
        with suppress(OSError):
            assert read_regular(path, most_bytes=100) == b""
    (tmp_path / "long").write_bytes(bytes(1000))
    assert read_regular(tmp_path / "long", most_bytes=100) == bytes(100)


@pytest.mark.parametrize("model", MODELS)
def test_a_scenario_that_names_an_odd_file_is_refused_at_once(
    tmp_path: Path, odd_files: list[Path], model: str
) -> None:
    for path in odd_files:
        check(scenario(tmp_path, model, path))


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["sim"],
        ["sweep", "--axis", "a=1,2"],
        ["show"],
        ["trace", "validate"],
        ["fit"],
        ["path"],
        ["transfer", "plan"],
        ["import"],
        ["relay"],
    ],
    ids=" ".join,
)
def test_an_odd_file_as_an_argument_is_refused_at_once(odd_files: list[Path], arguments: list[str]) -> None:
    for path in odd_files:
        result = CliRunner().invoke(command, [*arguments, str(path)])
        assert result.exit_code not in (0, 70), (path, result.output)
        assert isinstance(result.exception, LonghaulError | SystemExit), (path, result.exception)
