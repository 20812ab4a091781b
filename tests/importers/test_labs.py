"""Labs of containerlab, Mininet, Kollaps, netlab and compose become scenarios that check and simulate."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from longhaul.errors import LonghaulError
from longhaul.export.files import export
from longhaul.export.qdiscs import Kernel
from longhaul.importers.importing import import_source
from longhaul.run.sim import simulated_plan
from longhaul.scenario import load_scenario, parse_scenario, resolve

from .labs import COMPOSE, CONTAINERLAB, KOLLAPS, NETEM, NETLAB, TOPO


def imported(folder: Path, name: str, content: str, **given: Any) -> tuple[Any, tuple[str, ...], str]:
    """The document, warnings and text of a lab's scenario, which can be simulated."""
    (folder / name).write_text(content)
    return resolved_of(import_source(folder / name, given))


def resolved_of(made: Any) -> tuple[Any, tuple[str, ...], str]:
    scenario = parse_scenario(made.text.encode(), name="made.yaml")
    simulated_plan(resolve(scenario))
    return scenario.document, made.warnings, made.text


def links(document: Any) -> dict[str, str]:
    return {name: "-".join(link.endpoints) for name, link in document.links.items()}


def told(warnings: tuple[str, ...]) -> list[str]:
    return [each.replace("not carried over: ", "") for each in warnings]


def test_containerlab(tmp_path: Path) -> None:
    (tmp_path / "netem.sh").write_text(NETEM)
    document, warnings, text = imported(tmp_path, "wan.clab.yml", CONTAINERLAB, netem=tmp_path / "netem.sh")
    assert {name: node.kind for name, node in document.nodes.items()} == {
        "core": "router",
        "switch": "router",
        "client": "host",
        "server": "host",
    }
    assert list(document.links) == ["client-core", "core-switch", "server-switch"]
    first = document.links["client-core"]
    assert first.mtu == 1400
    assert str(first.forward.delay.base) == "20ms"
    assert first.forward.delay.reorder
    assert str(first.forward.loss.mean) == "0.5%"
    assert (str(first.reverse.delay.base), str(first.reverse.rate)) == (
        "30ms",
        "10Mbit",
    ) or first.reverse.rate
    assert document.programs["client-exec-2"].run == ("ping", "-c", "3", "server")
    assert document.programs["client-exec-2"].env == {"ROLE": "edge"}
    assert document.programs["server-cmd"].service
    assert document.traffic["probe"].to == ("server",)
    lines = told(warnings)
    address = (
        'command "ip address add 10.0.0.1/24 dev eth1" of "client": Longhaul assigns addresses and routes'
    )
    assert f"wan.clab.yml:17: {address}" in lines
    assert 'wan.clab.yml:19: binds of "client"' in lines
    assert 'wan.clab.yml:7: image "debian:12" of "client"; hosts have the files of this machine' in lines
    assert "wan.clab.yml:32: a link to host, which is outside of the lab" in lines
    assert 'wan.clab.yml: node "alone", which no link reaches' in lines
    assert any("netem command 4" in each for each in lines)
    assert all(
        each.partition(": ")[2] in text.replace("\n#   ", " ").replace("\n# ", " ") for each in lines[:1]
    )


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [("", "clab-wan-client"), ('prefix: ""\n', "client"), ("prefix: __lab-name\n", "wan-client")],
)
def test_containerlab_with_its_containers(tmp_path: Path, prefix: str, expected: str) -> None:
    document, warnings, _text = imported(tmp_path, "wan.clab.yml", prefix + CONTAINERLAB, containers="docker")
    assert document.nodes["client"].port.container == f"docker:{expected}"
    assert not document.programs
    assert not [each for each in told(warnings) if '"client"' in each]
    # Routers stay a part of the model.
    assert [name for name, node in document.nodes.items() if node.port is None] == ["core", "switch"]


def test_kollaps(tmp_path: Path) -> None:
    document, warnings, _text = imported(tmp_path, "small.xml", KOLLAPS)
    assert {name for name, node in document.nodes.items() if node.kind == "host"} == {
        "client-1",
        "client-2",
        "server",
    }
    assert set(document.links) == {"client-1-s1", "client-2-s1", "s1-s2", "s2-server"}
    wan = document.links["s1-s2"]
    assert (str(wan.delay.base), str(wan.delay.jitter.sd), str(wan.loss.mean)) == (
        "20ms",
        "1.5ms",
        "1%",
    )
    access = document.links["client-1-s1"]
    assert (str(access.forward.delay.base), str(access.reverse.delay.base)) == ("10ms", "10ms")
    last = document.links["s2-server"]
    assert (str(last.forward.delay.base), str(last.reverse.delay.base)) == ("5ms", "6ms")
    events = [(str(each.at), each.link or each.node, each.leave, each.join) for each in document.events]
    assert events == [
        ("2s", ("s1-s2",), None, None),
        ("3s", ("client-1",), True, None),
        ("4s", ("client-1",), None, True),
        ("5s", ("s2-server",), True, None),
        ("6s", ("s2-server",), None, True),
    ]
    lines = told(warnings)
    assert 'small.xml:4: the supervisor "dashboard": longhaul ui shows a run' in lines
    assert 'small.xml:18: leave of "client": its programs run on, without a network' in lines


def test_compose(tmp_path: Path) -> None:
    document, warnings, _text = imported(tmp_path, "compose.yaml", COMPOSE)
    assert links(document).keys() == {
        "web-front-network",
        "client-front-network",
        "web-back-network",
        "db-back-network",
    }
    web = document.programs["web-service"]
    assert web.run == ("python3", "-m", "http.server", "8000")
    assert web.env == {"MODE": "fast", "TOKEN": ""}
    assert web.ready.tcp == 8000
    lines = told(warnings)
    assert "compose.yaml:6: the value of the variable SECRET, which is empty here" in lines
    assert 'compose.yaml:13: volumes of "db"' in lines
    assert 'compose.yaml:15: deploy.resources of "db"' in lines


def test_compose_with_its_containers(tmp_path: Path) -> None:
    content = COMPOSE.replace(
        "    networks: [front]", "    container_name: probe\n    scale: 3\n    networks: [front]"
    )
    document, warnings, text = imported(
        tmp_path, "compose.yaml", "name: Shop\n" + content, containers="docker"
    )
    ports = {name: node.port.container for name, node in document.nodes.items() if node.kind == "host"}
    assert ports == {"web": "docker:shop-web-1", "db": "docker:shop-db-1", "client": "docker:probe"}
    assert not document.programs
    # Images, volumes and commands are the containers' own.
    assert told(warnings) == ['compose.yaml:20: all containers of "client" but the first']
    assert "addresses: ipv4" in text
    scenario = resolve(parse_scenario(text.encode(), name="made.yaml"))
    override = export(scenario, "compose", kernel=Kernel()).files
    services = yaml.safe_load(override["docker-compose.override.yml"])["services"]
    assert set(services) == {"web", "db", "client"}
    names = [each.partition(":")[0] for each in services["db"]["extra_hosts"]]
    assert names == ["web", "web.front-network", "client", "web.back-network"]


def test_compose_with_containers_of_podman_is_named_after_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "My Shop"
    folder.mkdir()
    document, _warnings, _text = imported(folder, "docker-compose.yml", COMPOSE, containers="podman")
    assert document.nodes["db"].port.container == "podman:myshop_db_1"
    assert document.name == "my-shop"


def test_a_scenario_without_containers_has_no_override() -> None:
    scenario = load_scenario(Path(__file__).parents[2] / "scenarios/two-clusters.yaml")
    without = resolve(scenario)
    with pytest.raises(LonghaulError, match="longhaul import --containers"):
        export(without, "compose", kernel=Kernel())


def test_a_lab_that_was_exported_for_containerlab_has_the_same_network(tmp_path: Path) -> None:
    scenario = load_scenario(Path(__file__).parents[2] / "scenarios/two-clusters.yaml")
    resolved = resolve(scenario)
    files = export(resolved, "containerlab", kernel=Kernel(), image="debian:12").files
    name = resolved.plan["name"]
    document = yaml.safe_load(files[f"{name}.clab.yml"])
    nodes = [node["name"] for node in resolved.plan["nodes"]]
    assert list(document["topology"]["nodes"]) == nodes
    assert {f"{node}.sh" for node in nodes} | {"hosts", f"{name}.clab.yml"} == set(files)
    # A script has a line for each interface that its node's links have.
    for link in document["topology"]["links"]:
        for node, device in (end.split(":") for end in link["endpoints"]):
            assert f"ip link set dev {device} up" in files[f"{node}.sh"]
    again, warnings, _text = imported(tmp_path, f"{name}.clab.yml", files[f"{name}.clab.yml"])
    ends = sorted(sorted(link.endpoints) for link in again.links.values())
    named = [[nodes[end] for end in link["endpoints"]] for link in resolved.plan["links"]]
    assert ends == sorted(map(sorted, named))
    assert any('image "debian:12"' in each for each in told(warnings))


@pytest.mark.parametrize(
    ("kind", "option"),
    [("compose", {"image": "x"}), ("shell", {"image": "x"}), ("containerlab", {"machines": 1})],
)
def test_an_option_of_another_export_is_an_error(kind: Any, option: Any) -> None:
    resolved = resolve(load_scenario(Path(__file__).parents[2] / "scenarios/two-clusters.yaml"))
    with pytest.raises(LonghaulError, match=f"does not apply to export {kind}"):
        export(resolved, kind, kernel=Kernel(), **option)


def test_netlab(tmp_path: Path) -> None:
    document, warnings, _text = imported(tmp_path, "campus.yml", NETLAB)
    kinds = {name: node.kind for name, node in document.nodes.items()}
    assert kinds == {"r1": "router", "r2": "router", "h1": "host", "h2": "host", "lan-4": "router"}
    access = document.links["r1-h1"]
    assert (str(access.delay.base), str(access.delay.jitter.half_width)) == ("15ms", "1ms")
    assert document.links["r2-h2"].mtu == 1400
    lines = told(warnings)
    assert "campus.yml:3: module" in lines
    assert "campus.yml:16: tc.reorder of a link" in lines
    assert 'campus.yml:19: a stub link of "r1"' in lines


@pytest.mark.parametrize(
    ("topo", "hosts", "routers", "count"),
    [
        ("minimal", 2, 1, 2),
        ("single,4", 4, 1, 4),
        ("reversed,3", 3, 1, 3),
        ("linear,3", 3, 3, 5),
        ("linear,3,2", 6, 3, 8),
        # A tree of depth d and fanout f has f^d hosts and (f^d - 1) / (f - 1) switches.
        ("tree,2,3", 9, 4, 12),
        ("torus,3,4", 12, 12, 36),
    ],
)
def test_topologies_of_mn(topo: str, hosts: int, routers: int, count: int) -> None:
    given = {"topo": topo, "link": "tc,bw=10,delay=10ms,loss=1"}
    document, warnings, _text = resolved_of(import_source(Path("mininet"), given))
    kinds = [node.kind for node in document.nodes.values()]
    assert (kinds.count("host"), kinds.count("router"), len(document.links)) == (hosts, routers, count)
    assert {str(link.delay.base) for link in document.links.values()} == {"10ms"}
    assert warnings == ()


def test_a_python_file_of_mininet_is_executed_only_if_that_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="would execute as this user; read it, then add --execute"):
        imported(tmp_path, "two.py", TOPO)
    document, warnings, _text = imported(tmp_path, "two.py", TOPO, execute=True, topo="two,3")
    assert [name for name, node in document.nodes.items() if node.kind == "host"] == ["h1", "h2", "h3"]
    wan = document.links["s1-s2"]
    assert (str(wan.delay.base), str(wan.loss.mean)) == ("10ms", "1%")
    assert told(warnings)[0] == 'two.py:12: ip=10.0.0.1/24 of "h1": Longhaul assigns addresses'
    assert list(tmp_path.iterdir()) == [tmp_path / "two.py"]


@pytest.mark.parametrize(
    ("name", "content", "given", "message"),
    [
        ("a.py", "raise ValueError('no')", {"execute": True}, "a.py: ValueError: no"),
        ("a.py", "x = 1", {"execute": True}, "defines 0 topologies"),
        ("a.py", TOPO, {"execute": True, "topo": "three"}, "there is no topology 'three'"),
        (
            "a.xml",
            KOLLAPS.replace('latency="20"', 'latency="fast"'),
            {},
            'a.xml:11: latency "fast" is not a number',
        ),
        ("a.xml", KOLLAPS.replace('dest="s2" latency="20"', 'dest="s9" latency="20"'), {}, 'ends at "s9"'),
        ("a.xml", '<!DOCTYPE e [<!ENTITY a "b">]><experiment/>', {}, "declares an entity"),
        ("a.xml", "<experiment><services>", {}, "a.xml:1:"),
        (
            "a.yml",
            CONTAINERLAB.replace("server:eth1", "x").replace("client:eth1", "client"),
            {},
            "does not name an interface",
        ),
        ("a.yml", CONTAINERLAB.replace('"core:e1-1"', '"cor:e1-1"'), {}, 'a.yml:25: a link ends at "cor"'),
        ("a.yml", "a: 1\n", {}, "has no topology (containerlab)"),
        ("a.yml", "services:\n  a: {image: x}\n  b: *a\n", {}, "docker compose config"),
        ("a.yml", "services: {}\n", {}, "has no links"),
        ("a.yml", COMPOSE, {"topo": "tree"}, "--topo does not apply"),
        ("a.yml", NETLAB, {"containers": "docker"}, "--containers does not apply"),
        (
            "a.yml",
            COMPOSE.replace("    networks: [front]", "    network_mode: host"),
            {"containers": "docker"},
            'a.yml:18: network_mode "host" of "client"',
        ),
    ],
)
def test_a_wrong_lab_is_one_error_with_its_line(
    tmp_path: Path, name: str, content: str, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(LonghaulError) as caught:
        imported(tmp_path, name, content, **given)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 3


@pytest.mark.parametrize("topo", ["ring,3", "tree,x", "torus,2,2", "single,1,2,3,4", "tree,9,9"])
def test_a_wrong_topology_of_mn_is_one_error(topo: str) -> None:
    with pytest.raises(LonghaulError):
        import_source(Path("mininet"), {"topo": topo})


def test_imported_labs_are_simulated(tmp_path: Path) -> None:
    for name, content in (("wan.clab.yml", CONTAINERLAB), ("small.xml", KOLLAPS)):
        (tmp_path / name).write_text(content)
        command = [str(Path(sys.executable).parent / "longhaul")]
        made = subprocess.run(
            [*command, "import", name, "--out", "made.yaml", "--force"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        assert "not carried over" in made.stderr
        done = subprocess.run(
            [*command, "sim", "made.yaml", "--json", "--no-report"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["probes"][0]["sent"] > 0


def test_the_commands_of_the_guide_run(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/import.md").read_text()
    (block,) = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for command in block.splitlines():
        words = shlex.split(command)
        program = str(Path(sys.executable).parent / words[0])
        done = subprocess.run(
            [program, *words[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
