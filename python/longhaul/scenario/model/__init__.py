"""The scenario language as frozen models."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longhaul.scenario.model.delay import Delay, DelayTrace
    from longhaul.scenario.model.link import Link, LinkModel, Profile
    from longhaul.scenario.model.node import Node, Tcp
    from longhaul.scenario.model.program import Program
    from longhaul.scenario.model.queue import Queue, QueueLimit
    from longhaul.scenario.model.relay import Cluster, Forward, Relay
    from longhaul.scenario.model.routes import RouteModel, Routes
    from longhaul.scenario.model.scenario import Changes, Document, Event, Expectation
    from longhaul.scenario.model.traffic import (
        Background,
        Bulk,
        Datagrams,
        Pcap,
        Ping,
        Replay,
        Requests,
        Traffic,
    )

_MODULES = {
    "Delay": "longhaul.scenario.model.delay",
    "DelayTrace": "longhaul.scenario.model.delay",
    "Link": "longhaul.scenario.model.link",
    "LinkModel": "longhaul.scenario.model.link",
    "Profile": "longhaul.scenario.model.link",
    "Node": "longhaul.scenario.model.node",
    "Tcp": "longhaul.scenario.model.node",
    "Program": "longhaul.scenario.model.program",
    "Queue": "longhaul.scenario.model.queue",
    "QueueLimit": "longhaul.scenario.model.queue",
    "Cluster": "longhaul.scenario.model.relay",
    "Forward": "longhaul.scenario.model.relay",
    "Relay": "longhaul.scenario.model.relay",
    "RouteModel": "longhaul.scenario.model.routes",
    "Routes": "longhaul.scenario.model.routes",
    "Changes": "longhaul.scenario.model.scenario",
    "Document": "longhaul.scenario.model.scenario",
    "Event": "longhaul.scenario.model.scenario",
    "Expectation": "longhaul.scenario.model.scenario",
    "Background": "longhaul.scenario.model.traffic",
    "Bulk": "longhaul.scenario.model.traffic",
    "Datagrams": "longhaul.scenario.model.traffic",
    "Pcap": "longhaul.scenario.model.traffic",
    "Ping": "longhaul.scenario.model.traffic",
    "Replay": "longhaul.scenario.model.traffic",
    "Requests": "longhaul.scenario.model.traffic",
    "Traffic": "longhaul.scenario.model.traffic",
}

__all__ = [
    "Background",
    "Bulk",
    "Changes",
    "Cluster",
    "Datagrams",
    "Delay",
    "DelayTrace",
    "Document",
    "Event",
    "Expectation",
    "Forward",
    "Link",
    "LinkModel",
    "Node",
    "Pcap",
    "Ping",
    "Profile",
    "Program",
    "Queue",
    "QueueLimit",
    "Relay",
    "Replay",
    "Requests",
    "RouteModel",
    "Routes",
    "Tcp",
    "Traffic",
]


def __getattr__(name: str) -> Any:
    """Import on first use: a command that needs the name of a metric should not build all models."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
