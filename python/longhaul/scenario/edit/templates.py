"""Templates for ``longhaul new``."""

import re
from collections.abc import Mapping

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.model.base import NAME_PATTERN
from longhaul.scenario.syntax.problems import ScenarioError, did_you_mean
from longhaul.scenario.syntax.yaml_tree import read_tree

_HEAD = """\
# {title}
#
#   longhaul check {name}.yaml        is it right?
#   longhaul show {name}.yaml         addresses, paths, RTT, BDP, queues
#   longhaul run {name}.yaml          run it live
#
# Delays are one way; a round trip takes both ways. Units are never left out: 250us, 10Gbit, 64MiB, 0.02%.
# For editors: longhaul schema > scenario.schema.json
# yaml-language-server: $schema=scenario.schema.json
version: 1
name: {name}
seed: 1                       # equal seeds give equal losses, jitter and reordering
"""

_PAIR = (
    "Two hosts and one link.",
    """\
duration: 10s
params: {{delay: 20ms}}         # longhaul run {name}.yaml --set delay=50ms
nodes:
  near: {{kind: host}}
  far: {{kind: host}}
links:
  wan: {{endpoints: [near, far], delay: $delay, rate: 100Mbit, loss: 0.1%}}
traffic:
  probe: {{kind: ping, from: near, to: far, every: 100ms}}
  bulk: {{kind: tcp, from: near, to: far, cc: cubic, start: 1s, stop: 9s}}
expect:
  - {{metric: probes.probe.far.rtt.min, min: 40ms, max: 41ms}}
""",
)

_CLUSTERS = (
    "Two clusters of four hosts, joined by a WAN link.",
    """\
duration: 20s
params: {{cc: cubic}}           # longhaul run {name}.yaml --set cc=reno
profiles:
  lan: {{delay: 15us, rate: 10Gbit}}
  wan: {{rate: 1Gbit, queue: 1bdp, count: ethernet}}   # ethernet: preamble, FCS and gap take their time, too
nodes:
  par: {{kind: router}}
  nyc: {{kind: router}}
  par1..4: {{kind: host, attach: par, profile: lan}}   # par1, par2, par3, par4
  nyc1..4: {{kind: host, attach: nyc, profile: lan}}
links:
  par-nyc: {{endpoints: [par, nyc], profile: wan, delay: 38ms, loss: 0.02%}}
traffic:
  probe: {{kind: ping, from: par1, to: nyc1, every: 50ms}}
  bulk: {{kind: tcp, from: par2, to: nyc2, flows: 2, cc: $cc, start: 2s, stop: 18s}}
programs:                     # real programs; never passed through a shell
  server: {{run: python3 -m http.server 8080, host: nyc3, service: true, ready: "tcp:8080"}}
  fetch: {{run: curl -sS -o /dev/null http://nyc3:8080/, host: par3, start: 5s}}
events:
  - {{at: 10s, link: par-nyc, set: {{delay: 60ms}}, over: 2s}}
expect:
  - {{metric: programs.fetch.wall_time, max: 2s}}
  - {{metric: fidelity.verdict, equals: faithful, else: untrusted}}
""",
)

_TOPOLOGY = """\
duration: 10s
topology: {{kind: {kind}{options}}}      # docs/reference/topologies.md has all kinds and options
# nodes: and links: add to it, or change what it makes, by name; longhaul show {name}.yaml has the names
traffic:
  probe: {{kind: ping, from: {first}, to: {last}, every: 100ms}}
  bulk: {{kind: tcp, from: {first}, to: {last}, cc: cubic, start: 1s, stop: 9s}}
"""

TEMPLATES = {"pair": _PAIR, "clusters": _CLUSTERS}


def template(name: str, *, kind: str = "clusters") -> str:
    """A commented scenario called ``name``."""
    if kind not in TEMPLATES:
        raise LonghaulError(
            Code.WORD_UNKNOWN,
            f'there is no template "{kind}"',
            remedy=did_you_mean(kind, TEMPLATES),
            exit_code=2,
        )
    _check_name(name)
    title, body = TEMPLATES[kind]
    return (_HEAD + body).format(title=title, name=name)


def topology_template(name: str, *, kind: str, options: Mapping[str, str]) -> str:
    """A commented scenario with a topology, and traffic between its first and its last host.

    ``options`` are those of the kind, as text of the language. Raises :class:`LonghaulError`, which speaks of
    the command line, as there is no file yet.
    """
    _check_name(name)
    for key, text in {"kind": kind, **options}.items():
        _check_alone(key, text)
    written = "".join(f", {key}: {text}" for key, text in options.items())
    trial = f"version: 1\nname: {name}\nduration: 1s\ntopology: {{kind: {kind}{written}}}\n"
    try:
        document = parse_scenario(trial.encode(), name="topology").document
    except ScenarioError as error:
        told = (_said(problem.path, problem.message, problem.remedy) for problem in error.diagnostics)
        raise LonghaulError(Code.TOPOLOGY_INVALID, "\n".join(told), exit_code=2) from error
    hosts = [key for key, node in document.nodes.items() if node.kind == "host"]
    if len(hosts) < 2:
        raise LonghaulError(
            Code.TOPOLOGY_INVALID,
            "the topology has one host and needs two",
            remedy="write a larger size",
            exit_code=2,
        )
    title = f"A {kind} of {len(hosts)} hosts."
    ends = {"first": hosts[0], "last": hosts[-1]}
    return (_HEAD + _TOPOLOGY).format(title=title, name=name, kind=kind, options=written, **ends)


def _check_alone(key: str, text: str) -> None:
    """Whether ``text`` is one value, and does not go on with other keys."""
    try:
        _source, tree = read_tree("", f"{{{key}: {text}}}".encode())
        alone = list(tree.entries) == [key]
    except ScenarioError:
        alone = False
    if not alone:
        message = f'"{printable(text)}" is not one value'
        remedy = "write one as a scenario has it; further keys have a --with of their own"
        raise LonghaulError(Code.PARAMETER_INVALID, _said(key, message, remedy), exit_code=2)


def _said(path: str, message: str, remedy: str | None) -> str:
    """What is wrong, with the option that says what a scenario has at ``path``."""
    key = path.removeprefix("topology.")
    option = "--topology" if key in ("kind", "topology") else f"--with {key}"
    return f"{option}: {message}; {remedy}" if remedy else f"{option}: {message}"


def _check_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        remedy = "use letters, digits, hyphens and underscores, at most 63"
        raise LonghaulError(Code.NAME_INVALID, f'"{name}" cannot name a scenario', remedy=remedy, exit_code=2)
