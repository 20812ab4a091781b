"""`longhaul trace collect` as a user meets it."""

import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .conftest import ROOT, Command

COLLECT = [sys.executable, "-m", "longhaul.cli.main", "trace", "collect"]


@contextmanager
def served(work: Path, *options: str) -> Iterator[str]:
    server = subprocess.Popen(
        [*COLLECT, "--serve", "127.0.0.1:0", *options], cwd=work, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdout is not None
    yield server.stdout.readline().removeprefix("serving at ").strip()
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=10) == 0


def test_server_and_client_share_a_token(longhaul: Command, work: Path) -> None:
    (work / "token").write_text("open sesame\n")
    (work / "other").write_text("open barley\n")
    given = ["--period", "20ms", "--count", "3", "-o", "t.csv"]
    with served(work, "--token-file", "token") as to:
        refused = longhaul("trace", "collect", "--to", to, "--token-file", "other", *given)
        assert refused.returncode == 1
        assert refused.stderr == (
            f"longhaul: {to}: the token is wrong; give the server's token by --token-file [E2402]\n"
        )
        done = longhaul("trace", "collect", "--to", to, "--token-file", "token", *given)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "wrote t.csv: 3 rows\n"
        assert done.stderr.startswith("0 s: 1 row; ")
        again = longhaul("trace", "collect", "--to", to, "--token-file", "token", *given)
        assert (again.returncode, again.stderr) == (
            2, "longhaul: t.csv already exists; choose another name, or add --force [E2003]\n",
        )  # fmt: skip


def test_the_guide_works(longhaul: Command, work: Path) -> None:
    guide = (ROOT / "docs/how-to/collecting.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    (work / "token").write_text("open sesame\n")
    with served(work, "--token-file", "token") as to:
        for line in block.splitlines():
            name, *arguments = shlex.split(line.replace("gw.example.org:7000", to))
            assert name == "longhaul"
            done = longhaul(*arguments, "--count", "1" if "nws.csv" in arguments else "2")
            assert done.returncode == 0, done.stderr
            assert (work / arguments[-1]).is_file()


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_the_middle_rows_are_whole(work: Path, stop: signal.Signals) -> None:
    with served(work) as to:
        client = subprocess.Popen(
            [*COLLECT, "--to", to, "--style", "eventspace", "-o", "t.csv"], cwd=work, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert client.stderr is not None
        client.stderr.readline()
        time.sleep(0.3)
        client.send_signal(stop)
        out, errors = client.communicate(timeout=10)
    assert client.returncode == 0, errors
    assert out.startswith("wrote t.csv: ")
    assert out.endswith("rows, interrupted\n")
    lines = (work / "t.csv").read_text().split("\n")
    assert lines[-1] == ""
    assert all(line.count(",") == 2 for line in lines[3:-1])
    assert sorted(each.name for each in work.iterdir()) == ["t.csv", "t.json"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no action is given; give one of --serve, --to"),
        (["--to", "a:1", "--serve", "b:2"], "no action is given"),
        (["--to", "127.0.0.1:1"], "no output file is given; add -o trace.csv"),
        (["--to", "127.0.0.1", "-o", "t.csv"], '"127.0.0.1" is not HOST:PORT; write for example'),
        (["--to", "127.0.0.1:1", "-o", "t.csv"], "127.0.0.1:1: connection refused; start longhaul"),
        (["--to", "no-such-host.invalid:1", "-o", "t.csv"], "no address is known of"),
        (["--to", "a:1", "-o", "t.json"], "t.json is not a name of a trace"),
        (["--to", "a:1", "-o", "t.csv", "--token-file", "empty"], "empty: there is no token in it"),
        (["--to", "a:1", "-o", "t.csv", "--nagle"], "nws has no nodelay"),
        (["--to", "a:1", "-o", "t.csv", "--style", "ping", "--period", "0s"], "--period is too short"),
        (["--to", "a:1", "-o", "t.csv", "--period", "60"], 'or "60s"'),
        (["--serve", "192.0.2.1:7000"], "cannot listen at 192.0.2.1:7000: cannot assign requested address"),
        (["--serve", "a:1", "--clique", "b:1,c:1", "-o", "t.csv"], "a:1 is not a member of the clique of 2"),
        (["--from-iperf3", "empty", "-o", "t.csv"], "empty is not JSON; give what iperf3 --json printed"),
    ],
)  # fmt: skip
def test_wrong_arguments_get_one_line(
    longhaul: Command, work: Path, arguments: list[str], words: str
) -> None:
    (work / "empty").write_text("\n")
    result = longhaul("trace", "collect", *arguments)
    assert result.returncode in (1, 2)
    assert words in result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("longhaul: ")]) == 1
    assert "Traceback" not in result.stderr
    assert sorted(each.name for each in work.iterdir()) == ["empty"]
