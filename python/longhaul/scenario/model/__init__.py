"""The scenario language as frozen models."""

from longhaul.scenario.model.delay import Delay, DelayTrace
from longhaul.scenario.model.link import Link, LinkModel, Profile
from longhaul.scenario.model.node import Node, Tcp
from longhaul.scenario.model.program import Program
from longhaul.scenario.model.queue import Queue, QueueLimit
from longhaul.scenario.model.relay import Cluster, Forward, Relay
from longhaul.scenario.model.routes import RouteModel, Routes
from longhaul.scenario.model.scenario import Changes, Document, Event, Expectation
from longhaul.scenario.model.traffic import Background, Bulk, Datagrams, Pcap, Ping, Replay, Requests, Traffic

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
