"""The scenario of a relay: that of a file, or one of options alone, with one link and its forwarded ports."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario import Resolved, load_scenario, parse_scenario, resolve


@dataclass(frozen=True)
class Flags:
    """What the command line says in place of a scenario."""

    delay: str | None
    rate: str | None
    loss: str | None
    jitter: str | None
    forwards: Sequence[str]
    socks: str | None
    seed: int | None
    password_file: str | None = None
    allow: Sequence[str] = ()
    """Networks that SOCKS may reach; all if there are none."""

    def given(self) -> bool:
        """Whether there is any, beside the seed."""
        given = (self.delay, self.rate, self.loss, self.jitter, self.forwards, self.socks)
        return any((*given, self.password_file, self.allow))


def resolved_of(scenario: Path | None, *, settings: Mapping[str, str], flags: Flags) -> Resolved:
    """The scenario in a file, or that of the flags; raises LonghaulError for both and for neither."""
    if scenario is None:
        if not flags.given():
            raise LonghaulError(
                Code.ARGUMENT_MISSING,
                "neither a scenario nor a forward",
                remedy="write longhaul relay SCENARIO, or --delay 18ms --forward 8080=127.0.0.1:80",
                exit_code=2,
            )
        if not flags.forwards and not flags.socks:
            remedy = "add --forward 8080=127.0.0.1:80 or --socks 127.0.0.1:1080"
            raise LonghaulError(
                Code.RELAY_INCOMPLETE, "the relay would accept no connections", remedy=remedy, exit_code=2
            )
        return resolve(parse_scenario(scenario_text(flags).encode(), name="relay flags"))
    if flags.given():
        remedy = "write them into the scenario, or leave the scenario out"
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "the scenario defines its own links and forwards",
            remedy=remedy,
            exit_code=2,
        )
    return resolve(load_scenario(scenario, settings=settings), seed=flags.seed)


def scenario_text(flags: Flags) -> str:
    """The same as a scenario: ``near`` in front of the link ``wan``, and ``far``, which is everywhere."""
    link: dict[str, Any] = {"delay": flags.delay or "0ms"}
    if flags.jitter:
        jitter = {"dist": "normal", "sd": flags.jitter}
        link["delay"] = {"base": flags.delay or "0ms", "jitter": jitter}
    link |= {key: value for key, value in (("rate", flags.rate), ("loss", flags.loss)) if value}
    near: dict[str, Any] = {}
    relay: dict[str, Any] = {
        "clusters": {"near": near, "far": {"machines": list(flags.allow) or ["0.0.0.0/0", "::/0"]}},
        "forwards": [_forward(each) for each in flags.forwards],
    }
    if flags.socks:
        address, _, port = flags.socks.rpartition(":")
        near["gateway"] = address.removeprefix("[").removesuffix("]") or "127.0.0.1"
        relay["socks"] = port
    if flags.password_file:
        relay["password_file"] = str(Path(flags.password_file).absolute())
    if not flags.forwards:
        del relay["forwards"]
    content = {
        "version": 1,
        "name": "relay",
        "seed": 1 if flags.seed is None else flags.seed,
        "nodes": {"near": {"kind": "router"}, "far": {"kind": "router"}},
        "links": {"wan": {"endpoints": ["near", "far"], **link}},
        "relay": relay,
    }
    # JSON is YAML, and leaves no room for what flags could contain. One line for each section.
    return "\n".join(f"{key}: {json.dumps(value)}" for key, value in content.items()) + "\n"


def _forward(text: str) -> dict[str, str]:
    listen, equals, target = text.partition("=")
    protocol, colon, rest = listen.partition(":")
    if colon and protocol in ("tcp", "udp"):
        listen = rest
    if not equals or not listen or not target:
        raise LonghaulError(
            Code.FORWARD_INVALID,
            f'"{text}" is not a forward',
            remedy="write LISTEN=TARGET, such as 127.0.0.1:8080=127.0.0.1:80, or udp:5300=10.0.0.2:53",
            exit_code=2,
        )
    listen = listen if ":" in listen else f"127.0.0.1:{listen}"
    kind = protocol if protocol == "udp" and colon else "tcp"
    return {"listen": listen, "from": "near", "to": target, "into": "far", "protocol": kind}
