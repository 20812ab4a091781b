"""What each machine needs so that its connections go by its gateway."""

import json
import subprocess

import pytest

from longhaul.errors import LonghaulError
from longhaul.export.pathmap import path_map, path_map_text

from .scenarios import THREE, resolved_of

MPI = (20_000, 20_999)


def text(form: str, node: str | None = "n1", *, more: str = "") -> str:
    return path_map_text(resolved_of(THREE + more), node=node, form=form, ports=MPI)


def test_a_path_has_the_sum_of_its_links_and_the_smallest_rate() -> None:
    (cluster,) = path_map(resolved_of(THREE), node="n1")
    far = next(each for each in cluster["paths"] if each["to"] == "far")
    assert far["links"] == ["ab", "bc"]
    assert far["one_way_ns"] == (18 + 7) * 10**6
    assert far["round_trip_ns"] == 2 * (18 + 7) * 10**6
    assert far["rate_bits_per_s"] == 3 * 10**6


def test_a_machine_and_its_cluster_have_the_same_map() -> None:
    assert path_map(resolved_of(THREE), node="away") == path_map(resolved_of(THREE), node="far")
    with pytest.raises(LonghaulError, match='did you mean "away"'):
        path_map(resolved_of(THREE), node="awy")


def test_a_shell_takes_the_proxy_variables() -> None:
    done = subprocess.run(
        ["sh", "-c", f"{text('shell')}\necho $ALL_PROXY $https_proxy $no_proxy"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["socks5h://127.1.0.1:1080", "socks5h://127.1.0.1:1080", "127.1.0.0/24"]


def test_a_shell_reads_the_password_from_its_file(tmp_path: object) -> None:
    done = subprocess.run(
        [
            "sh",
            "-c",
            f"printf 'secret\\n' > word\n{text('shell', more='  password_file: word')}\necho $all_proxy",
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=str(tmp_path),
    )
    assert done.stdout.strip() == "socks5h://longhaul:secret@127.1.0.1:1080"
    assert "secret" not in text("shell", more="  password_file: word")


def test_ssh_goes_to_the_other_clusters_alone_by_the_gateway() -> None:
    lines = text("ssh").splitlines()
    assert "Host n11 away" in lines
    assert "  ProxyCommand longhaul relay connect --by 127.1.0.1:1080 %h %p" in lines


def test_mpi_keeps_to_the_machines_and_the_ports_that_are_redirected() -> None:
    lines = text("mpi")
    assert "btl_tcp_if_include=127.1.0.0/24,127.2.0.0/24,fd00:2::/64,127.3.0.0/24,10.9.9.9/32" in lines
    assert "btl_tcp_port_min_v4=20000" in lines
    assert "btl_tcp_port_range_v4=1000" in lines


def test_redirection_knows_the_other_clusters_and_both_families() -> None:
    lines = text("redirect", "a", more="  transparent: 15001\n").splitlines()
    rules = [line for line in lines if "REDIRECT" in line]
    assert "iptables -t nat -A PREROUTING -p tcp -d 127.2.0.0/24 --dport 20000:20999" in rules[0]
    assert [line.split()[0] for line in rules] == ["iptables", "ip6tables", "iptables", "iptables"]
    assert all("127.1.0.0/24" not in line for line in rules)
    assert "ip -6 route add local fd00:2::/64 dev lo table 100" in lines


def test_json_holds_what_the_other_forms_say() -> None:
    (cluster,) = json.loads(text("json"))
    assert cluster["socks"] == "127.1.0.1:1080"
    assert [each["target"] for each in cluster["forwards"]] == ["127.2.0.11:5201", "[fd00:2::1]:53"]
    assert [each["cluster"] for each in cluster["forwards"]] == ["b", "b"]
    assert "to far by 127.1.0.1: ab, bc; 25 ms one way, RTT 50 ms, 3 Mbit/s" in text("words")


def test_chained_gateways_are_both_on_the_path() -> None:
    chained = THREE.replace(", protocol: udp", "") + "  gateways: chained\n"
    (cluster,) = path_map(resolved_of(chained), node="a")
    assert cluster["paths"][0]["gateways"] == ["127.1.0.1", "127.2.0.1"]
