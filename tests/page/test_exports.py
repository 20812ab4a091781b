"""Exports on the page: files of every format, one archive, and the mapping to machines."""

import io
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest

from longhaul.export.files import export
from longhaul.export.qdiscs import Kernel
from longhaul.scenario import parse_scenario, resolve

from .served import Served, serving

SCENARIO = """\
version: 1
name: pair
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 20ms, rate: 10Mbit}}
"""
MACHINES = "version: 1\nmachines: {a: {address: 192.0.2.1}, b: {address: 192.0.2.2}}\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("exports")) as served:
        yield served


@pytest.mark.parametrize("kind", ["tc", "shell", "ansible", "containerlab"])
def test_the_page_has_the_files_of_the_command(server: Served, kind: Any) -> None:
    status, told = server.ask("/api/export", {"text": SCENARIO, "kind": kind})
    assert status == 200, told
    resolved = resolve(parse_scenario(SCENARIO.encode(), name="pair"))
    assert {each["path"]: each["text"] for each in told["files"]} == export(
        resolved, kind, kernel=Kernel()
    ).files
    assert told["command"] == f"longhaul export {kind} SCENARIO --out scripts"


def test_the_archive_has_the_same_files_once(server: Served) -> None:
    body = {"text": SCENARIO, "kind": "shell", "machines": MACHINES}
    files = {each["path"]: each["text"] for each in server.ask("/api/export", body)[1]["files"]}
    url = server.ask("/api/export/archive", body)[1]["url"]
    for wanted in (200, 404):
        connection = server.connect()
        connection.request("GET", url)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        assert answer.status == wanted
        if wanted == 200:
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                found = {each.name: each.mode for each in archive.getmembers()}
    assert found == {f"pair-shell/{path}": 0o755 if path.endswith(".sh") else 0o644 for path in files}


def test_the_mapping_is_edited_and_refused_where_it_is_wrong(server: Served) -> None:
    edits = [{"op": "set", "machine": "a", "text": "192.0.2.7"}]
    told = server.ask("/api/export/machines", {"text": SCENARIO, "machines": MACHINES, "edits": edits})[1]
    assert told["text"] == MACHINES.replace("192.0.2.1}", "192.0.2.7}")
    assert told["rows"][0]["devices"] == [{"link": "wan", "device": "eth1"}]
    wrong = MACHINES.replace("192.0.2.1}", "192.0.2}")
    told = server.ask("/api/export/machines", {"text": SCENARIO, "machines": wrong})[1]
    assert [each["path"] for each in told["problems"]] == ["machines.a.address"]
    status, told = server.ask("/api/export", {"text": SCENARIO, "kind": "shell", "machines": wrong})
    assert (status, told["error"]["line"]) == (400, 2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": SCENARIO.replace("10Mbit", "10")}, "no unit"),
        ({"line_rate": "10"}, "no unit"),
        ({"kind": "tc", "style": "ewan"}, "eWAN"),
        ({"text": SCENARIO.replace("20ms,", "{dist: pareto, mean: 20ms, shape: 2},")}, ""),
        ({"kind": "mininet"}, "must be tc, shell"),
    ],
)
def test_what_cannot_be_exported_is_refused(server: Served, changes: Any, said: str) -> None:
    status, told = server.ask("/api/export", {"text": SCENARIO, **changes})
    assert status == 400
    assert said in told["error"]["message"]
