"""`longhaul path` with saved outputs, and the guide to it."""

import re
import shlex
from pathlib import Path

import pytest

from .conftest import ROOT, Command

TRACE = """\
traceroute to far.example (203.0.113.9), 30 hops max, 60 byte packets
 1  192.0.2.1  2.000 ms
 2  203.0.113.9  12.000 ms
"""


def test_a_saved_trace_becomes_a_scenario_that_runs(longhaul: Command, work: Path) -> None:
    (work / "t.txt").write_text(TRACE)
    given = ["--rate", "1Gbit", "--interface-speed", "far.example=100Mbit", "--out", "ways.yaml"]
    made = longhaul("path", "--from", "near=t.txt", *given)
    assert made.returncode == 0, made.stderr
    assert made.stderr == ""
    text = (work / "ways.yaml").read_text()
    assert "name: ways\n" in text
    assert "delay: 1ms, rate: 1Gbit}" in text
    assert "delay: 5ms, rate: 100Mbit}" in text
    assert longhaul("check", "ways.yaml").stdout == (
        "ways.yaml: good (hosts: 2, links: 2)\n  expected near > far-example: RTT 12 ms (6 ms each way)\n"
    )
    assert longhaul("sim", "ways.yaml").returncode == 0
    (work / "ways.yaml").write_text(text.replace("duration: 10s", "duration: 1s"))
    assert longhaul("run", "ways.yaml").returncode in (0, 4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "there is no host to find; name one, or a saved output by --from"),
        (["--from", "absent.txt"], "absent.txt: no such file or directory; name a file that can be read"),
        (["--from", "t.txt", "--rate", "1Gb"], 'write "1Gbit"'),
        (["--from", "t.txt", "--interface-speed", "1Gbit"], '"1Gbit" is not HOP=RATE; write for example'),
        (["--from", "t.txt", "--interface-speed", "a=1Gbps"], '--interface-speed a: "1Gbps": there is'),
        (["--from", "t.txt", "--interface-speed", "192.0.2.7=1Gbit"], 'no path leads to "192.0.2.7"; did'),
        (["no-such-host.invalid"], 'no address is known of "no-such-host.invalid"; correct the name'),
        (["::1", "-4"], 'no address is known of "::1" by IPv4; correct the name, or give an address'),
        (["127.0.0.1", "--with", "tracerout"], 'no way to probe by "tracerout"; did you mean "traceroute"?'),
        (["--from", "self=t.txt", "--out", "t.txt"], "t.txt already exists; choose another name, or add"),
    ],
)  # fmt: skip
def test_wrong_arguments_get_one_line(
    longhaul: Command, work: Path, arguments: list[str], words: str
) -> None:
    (work / "t.txt").write_text(TRACE)
    result = longhaul("path", *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("longhaul: ")]) == 1
    assert "Traceback" not in result.stderr


def test_the_guide_works(longhaul: Command, work: Path) -> None:
    text = (ROOT / "docs/how-to/paths.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)(?: title=\"(\S+)\")?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _name, _content in blocks].count("sh") == 3
    for kind, name, content in blocks:
        if kind in ("xml", "text"):
            (work / name).write_text(content, encoding="utf-8")
        elif kind == "sh":
            for line in content.splitlines():
                program, *arguments = shlex.split(line)
                assert program == "longhaul"
                result = longhaul(*arguments)
                assert result.returncode == 0, result.stderr
        elif kind == "yaml":
            made = (work / name).read_text(encoding="utf-8").splitlines()
            for line in content.splitlines():
                assert line in made, f"{line}\n" + "\n".join(made)
