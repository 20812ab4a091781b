"""Responses about the hosts of a live run."""

from typing_extensions import TypedDict


class TerminalRow(TypedDict):
    """A shell in a host; ``tabs`` is the number of browser tabs that show it."""

    id: str
    host: str
    started_unix_s: float
    tabs: int


class TerminalList(TypedDict):
    """The shells of a run that were started from the page, oldest first."""

    terminals: list[TerminalRow]


class HostProcessRow(TypedDict):
    """A process in a host; ``pid`` is that which programs in the host see."""

    pid: int
    command: str
    state: str
    cpu_s: float
    rss_bytes: int


class HostInterface(TypedDict):
    """An interface of a host."""

    name: str
    state: str
    addresses: list[str]


class HostSocketRow(TypedDict):
    """A TCP or UDP socket of a host, in the words of ss(8)."""

    protocol: str
    state: str
    receive_queue_bytes: int
    send_queue_bytes: int
    local: str
    remote: str


class HostNow(TypedDict):
    """A host of a live run at one instant."""

    host: str
    processes: list[HostProcessRow]
    interfaces: list[HostInterface]
    routes: list[str]
    sockets: list[HostSocketRow]
