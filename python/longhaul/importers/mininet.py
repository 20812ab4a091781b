"""Mininet topologies: those of ``mn --topo`` by name, and Python files that define a ``Topo``.

A Python file is a program. It runs in a process of its own, with a stand-in for the package ``mininet`` that
records hosts, switches and links; it needs neither Mininet nor root. It is not a sandbox: the program may do
whatever its user may.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.importers.draft import Lab, delay_model, number, rate_text, share_text, time_ns
from longhaul.subprocesses import python_code_command

TOPOLOGIES = ("minimal", "single", "reversed", "linear", "tree", "torus")
_WITHIN_S = 30
_MOST_LINKS = 20_000
_STAND_IN = Path(__file__).with_name("mininet_stand_in.py")


def named_topology(topo: str, link: str | None) -> Lab:
    """The network of ``mn --topo TOPO --link LINK``. Raises LonghaulError."""
    name, *words = topo.split(",")
    if name not in TOPOLOGIES:
        raise _option("--topo", topo, f"write one of {', '.join(TOPOLOGIES)}, such as tree,2,3")
    sizes = [int(word) if word.isdecimal() and len(word) < 6 else 0 for word in words]
    least = 3 if name == "torus" else 1
    if not all(sizes) or len(sizes) > 3 or (name == "torus" and any(size < least for size in sizes[:2])):
        raise _option("--topo", topo, f"write whole numbers from {least}, such as {_example(name)}")
    lab = Lab("Mininet", f"mn --topo {topo}{f' --link {link}' if link else ''}", name)
    settings = _link_settings(lab, _options(link), None) if link else {}
    {"tree": _tree, "torus": _torus, "linear": _linear}.get(name, _star)(lab, name, sizes, settings)
    return lab


def _example(name: str) -> str:
    return {"tree": "tree,2,3", "torus": "torus,3,3", "linear": "linear,4,2"}.get(name, f"{name},4")


def _option(option: str, value: str, remedy: str) -> LonghaulError:
    return LonghaulError(
        Code.ARGUMENT_INVALID,
        f'{option} "{printable(value)}" is not a topology of Mininet',
        remedy=remedy,
        exit_code=2,
    )


def _connect(lab: Lab, a: str, b: str, settings: Mapping[str, Any]) -> None:
    if len(lab.links) >= _MOST_LINKS:
        raise lab.wrong(None, f"has more than {_MOST_LINKS} links", "use fewer")
    lab.add_link((a, b), settings)


def _switch(lab: Lab, name: str) -> str:
    lab.add_node(name, "router", note="a switch: forwards IP packets, not frames")
    return name


def _star(lab: Lab, name: str, sizes: list[int], settings: Mapping[str, Any]) -> None:
    count = 2 if name == "minimal" else (sizes or [2])[0]
    switch = _switch(lab, "s1")
    for number_of_host in range(1, count + 1):
        lab.add_node(f"h{number_of_host}", "host")
        _connect(lab, f"h{number_of_host}", switch, settings)


def _linear(lab: Lab, _name: str, sizes: list[int], settings: Mapping[str, Any]) -> None:
    count, hosts = (*sizes, 1)[:2] if len(sizes) == 1 else (*sizes, 2, 1)[:2]
    before = None
    for place in range(1, count + 1):
        switch = _switch(lab, f"s{place}")
        for each in range(1, hosts + 1):
            host = f"h{place}" if hosts == 1 else f"h{each}s{place}"
            lab.add_node(host, "host")
            _connect(lab, host, switch, settings)
        if before:
            _connect(lab, switch, before, settings)
        before = switch


def _tree(lab: Lab, _name: str, sizes: list[int], settings: Mapping[str, Any]) -> None:
    depth, fanout = (*sizes, 2)[:2] if len(sizes) == 1 else (*sizes, 1, 2)[:2]
    if fanout**depth > _MOST_LINKS:
        raise lab.wrong(None, f"has more than {_MOST_LINKS} links", "use fewer")
    counts = {"h": 0, "s": 0}

    def grow(left: int) -> str:
        kind = "s" if left else "h"
        counts[kind] += 1
        name = f"{kind}{counts[kind]}"
        if not left:
            lab.add_node(name, "host")
            return name
        _switch(lab, name)
        for _child in range(fanout):
            _connect(lab, name, grow(left - 1), settings)
        return name

    grow(depth)


def _torus(lab: Lab, _name: str, sizes: list[int], settings: Mapping[str, Any]) -> None:
    rows, columns, hosts = (*sizes, 1)[:3] if len(sizes) == 2 else (*sizes, 3, 3, 1)[:3]
    for row in range(1, rows + 1):
        for column in range(1, columns + 1):
            switch = _switch(lab, f"s{row}x{column}")
            for each in range(1, hosts + 1):
                host = f"h{row}x{column}" if hosts == 1 else f"h{row}x{column}x{each}"
                lab.add_node(host, "host")
                _connect(lab, host, switch, settings)
    for row in range(1, rows + 1):
        for column in range(1, columns + 1):
            here = f"s{row}x{column}"
            _connect(lab, here, f"s{row}x{column % columns + 1}", settings)
            _connect(lab, here, f"s{row % rows + 1}x{column}", settings)


def _options(link: str) -> dict[str, str]:
    """``tc,bw=10,delay=10ms`` as keys and values."""
    kind, *words = link.split(",")
    if kind not in ("default", "tc", "tcu", "ovs"):
        raise _option("--link", link, "write for example tc,bw=10,delay=10ms,loss=1")
    return {name: value for name, _equals, value in (word.partition("=") for word in words)}


def _link_settings(lab: Lab, given: Mapping[str, Any], at: int | None) -> dict[str, Any]:
    """What TCLink's parameters are in the scenario language; they hold for each direction."""
    settings: dict[str, Any] = {}
    texts = {key: str(value) for key, value in given.items() if value is not None}
    bw = number(texts.pop("bw", "0"))
    if bw:
        settings["rate"] = rate_text(bw * 1e6)
    delay_ns = time_ns(texts.pop("delay", "0"), bare=1e3)
    jitter_ns = time_ns(texts.pop("jitter", "0"), bare=1e3)
    if delay_ns is None or jitter_ns is None:
        raise lab.wrong(at, f'delay "{given.get("delay")}" or jitter is not a time', "write one like 5ms")
    if delay_ns or jitter_ns:
        settings["delay"] = delay_model(delay_ns, jitter_ns)
    percent = number(texts.pop("loss", "0"))
    if percent:
        settings["loss"] = share_text(min(percent, 100) / 100)
    limit = number(texts.pop("max_queue_size", "0"))
    if limit and bw:
        settings["queue"] = {"kind": "fifo", "limit": f"{int(limit)}p"}
    elif limit:
        lab.leave_out(at, "max_queue_size of a link without bw")
    for key, value in texts.items():
        if key not in ("cls", "use_htb", "use_tbf", "use_hfsc") and value not in ("False", "None"):
            lab.leave_out(at, f"{key}={value} of a link")
    return settings


def topology_of_program(path: Path, *, topo: str | None, execute: bool) -> Lab:
    """The network of a ``Topo`` of Python file ``path``; ``topo`` is NAME,ARGUMENT,... of its ``topos``.

    Raises LonghaulError, also if the user has not allowed to ``execute`` the file.
    """
    if not execute:
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f"{path} is a Python program, which importing would execute as this user",
            remedy="read it, then add --execute",
            exit_code=2,
        )
    with tempfile.TemporaryDirectory(prefix="longhaul-mininet-") as folder:
        out = Path(folder) / "topology.json"
        command = python_code_command(
            _STAND_IN.read_text(encoding="utf-8"), str(path.resolve()), str(out), topo or ""
        )
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_WITHIN_S,
                check=False,
                env={key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ},
            )
        except subprocess.TimeoutExpired:
            message = f"{path} did not define its topology within {_WITHIN_S} s"
            raise LonghaulError(
                Code.FOREIGN_FILE_MALFORMED, message, remedy="leave out what it does besides", exit_code=2
            ) from None
        if done.returncode or not out.is_file():
            why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise LonghaulError(
                Code.FOREIGN_FILE_MALFORMED,
                f"{path}: {printable(why, limit=300)}",
                remedy="take a file that defines a class of mininet.topo.Topo, or topos",
                exit_code=2,
            )
        found = json.loads(out.read_text(encoding="utf-8"))
    return _recorded(found, path)


def _recorded(found: Mapping[str, Any], path: Path) -> Lab:
    lab = Lab("Mininet", path.name, str(found["name"]))
    for node in found["nodes"]:
        if node["kind"] == "switch":
            note = "a switch: forwards IP packets, not frames"
            lab.add_node(node["name"], "router", line=node["line"], note=note)
        else:
            lab.add_node(node["name"], "host", line=node["line"])
        for key, value in node["options"].items():
            if key not in ("cls", "dpid", "protocols"):
                why = ": Longhaul assigns addresses" if key in ("ip", "mac", "defaultRoute") else ""
                lab.leave_out(node["line"], f'{key}={value} of "{node["name"]}"{why}')
    for link in found["links"]:
        settings = _link_settings(lab, link["options"], link["line"])
        lab.add_link((link["ends"][0], link["ends"][1]), settings, line=link["line"])
    return lab
