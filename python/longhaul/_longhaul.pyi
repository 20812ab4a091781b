"""The compiled core: it executes plans and decides nothing about scenarios."""

from collections.abc import Callable, Mapping
from typing import Any

LEAST_THREAD_DELAY_NS: int
"""Of a link that is cut between engine threads which send packets themselves, and so wait for each other."""
MOST_CARDS: int
"""Network cards that a host on the virtual clock may have, one for each of its links."""

class InvalidValueError(ValueError):
    """A value that breaks a rule; the text has its place, the rule and the remedy."""

    path: str
    """Where it is, as in ``links[3].forward.loss``; empty for the whole."""
    rule: str
    """The rule that it breaks."""
    message: str
    """Path and rule."""
    remedy: str | None

class LiveError(RuntimeError):
    """What a live run cannot do here."""

    message: str
    remedy: str | None

def version() -> str:
    """The version of the compiled core."""

def check_plan(plan: str) -> None:
    """Check a plan in JSON. Raises InvalidValueError."""

def check_algorithm(algorithm: str) -> None:
    """Check a congestion-control algorithm in JSON. Raises InvalidValueError."""

def algorithms() -> list[str]:
    """The names of all congestion-control algorithms."""

def check_bpf_algorithm(algorithm: str) -> None:
    """Check that a BPF program implements an algorithm in JSON. Raises InvalidValueError."""

def bpf_algorithms(*, load: bool) -> list[tuple[str, tuple[str, str | None] | None]]:
    """Algorithms with BPF programs; with ``load``, each with reason and remedy if this kernel refuses it."""

class Routes:
    """Where packets go next: by mean one-way delay, then fewer links, then the lower link.

    Nodes and links are positions. A direction is twice the position of its link, plus one for reverse.
    Methods raise ValueError for a node that is not there.
    """

    def __init__(
        self,
        *,
        kinds: list[bool],
        hosts: list[int],
        forwarding: list[bool],
        links: list[tuple[int, int, int, int, bool]],
        overrides: list[tuple[int, int, int]],
        flow_hash: tuple[int, list[str]] | None = None,
    ) -> None:
        """What is known of each node and each link.

        ``kinds``: whether packets end at a node. ``hosts``: its host, if it is an interface, else itself.
        ``links``: ends, mean delays in ns, forward and reverse, and whether it is part of the network.

        ``overrides`` are next hops that replace the shortest path: node, destination, link. Destinations
        are searched for when they are first needed. ``flow_hash``: the seed of the run and the names of
        the nodes, if flows are divided among equal paths. Raises InvalidValueError for a node or link that is
        not there.
        """

    def next(self, node: int, destination: int) -> int | None:
        """The direction that a packet at ``node`` for ``destination`` takes."""

    def path(self, source: int, destination: int) -> list[int] | None:
        """The directions from node to node; ``None`` without a path. No path leads through a host."""

    def path_of(self, source: int, destination: int, flow: int) -> list[int] | None:
        """The directions that packets of the flow with this hash take; ``None`` without a path."""

    def equal_next(self, node: int, destination: int) -> list[int]:
        """The directions that packets may take at ``node`` for ``destination``."""

    def used(self, sources: list[int], destination: int) -> list[int]:
        """Every direction that packets from ``sources`` to ``destination`` may take, in ascending order."""

    def tree(self, sources: list[int], destination: int) -> list[tuple[int, int]]:
        """The union of the paths from ``sources``: its nodes, each with the direction that it takes.

        A node comes after the one that its direction leads to. Sources without a path are left out.
        """

    def attachment(self, node: int) -> tuple[int, int] | None:
        """The node that a host with a single link hangs on, and the link; ``None`` for other nodes."""

def path(plan: str, from_: int, to: int) -> list[tuple[int, bool]] | None:
    """The path in the network of a run of a plan in JSON: links, and whether each is taken in reverse."""

def engine_status(engines: list[str]) -> str: ...
def joined_jobs(shards: list[str]) -> str: ...
def live_cuts(plan: str) -> list[tuple[int, int]]: ...
def trial(
    direction: str,
    *,
    seed: int,
    name: str,
    at_ps: list[int],
    sizes: list[int],
    flow: list[int],
    class_: list[int],
) -> tuple[list[int], list[str], list[int], list[bool], list[bool]]:
    """Packets through one direction alone: packet, fate, due time (ps, or 0), marked, corrupted."""

def replay(plan: str, journal: str, shard: tuple[list[int], int] | None = None) -> dict[str, Any]:
    """Feed the journal at the path ``journal`` to a fresh network of ``plan``.

    That of a live run's ``shard`` has the shard of each node, and its own number. Keys: injected, imported,
    changes, equal, delivered, crossed, difference (recorded and replayed, or ``None``). Raises
    InvalidValueError if either is broken.
    """

class Simulation:
    """A simulated run of a plan in JSON; it writes ``raw/`` and ``captures/`` into the directory of a run."""

    WINDOWS_PER_LOOKAHEAD: int
    """Windows in the least time that a packet takes between two shards."""

    def __init__(self, plan: str, *, directory: str | None, scheduler: str = "automatic") -> None:
        """``scheduler`` changes nothing but the speed: ``calendar``, ``lookahead`` or ``automatic``.

        ``directory`` is that of the run; ``None``: nothing is written.

        Raises InvalidValueError if the plan is invalid, OSError if the records cannot be written.
        """

    def load(
        self, plan: str
    ) -> tuple[str | None, list[float], list[tuple[int, int, float, float]], list[tuple[int, int]]]:
        """What the simulation of ``plan``, which this is, will have to do, to divide it into shards by.

        What stands against that; each node's computing time for a simulated second, in ns; each link: its
        ends, packets a second both ways, and its lookahead in ns, or 0 if it cannot be cut; interfaces and
        their hosts.
        """

    def divide(self, partition: list[int]) -> None:
        """Put each node into its shard of ``partition``, before the run begins. Results stay the same.

        Raises InvalidValueError, and the run is not divided then.
        """

    def advance(self, events: int, *, until_ns: int | None = None) -> bool:
        """Run on for so many events at most, and up to an instant, without the interpreter's lock.

        True when it has ended.
        """

    def pace(self, flow: int, bits_per_s: int) -> None:
        """Let a bulk transfer, by its position in the plan, hand over at a rate from now on; 0: nothing.

        The first call opens its connection, if it is ``held``. Raises ValueError for other flows.
        """

    def progress(self) -> list[tuple[int, int, int | None, bool]]:
        """How far bulk transfers are: flow, bytes that arrived, when all had (ns), whether one failed."""

    def now_ns(self) -> int:
        """The simulated time."""

    def so_far(self) -> str:
        """What has been counted so far, in JSON; records are on their way to disk. Raises OSError."""

    def finish(self) -> str:
        """What was counted, in JSON; once, at the end. Raises OSError if records are incomplete."""

class RewrittenCapture:
    """The packets of a capture between hosts of a scenario: with their addresses, and right checksums."""

    def __init__(self, content: bytes, rules: str) -> None:
        """Read ``content``, a capture, packed or not; ``rules`` is ``Rules`` of ``crates/capture`` in JSON.

        Raises InvalidValueError if it is no capture, is damaged or too large.
        """

    def tally(self) -> str:
        """What was counted, as JSON of ``Tally`` of ``crates/capture``."""

    def columns(self, pair: int) -> tuple[list[int], list[int], list[int], bytes, bytes]:
        """Packets from one host to another: time in ns, IP bytes, flow, DSCP and ECN, TTL."""

    def pcap(self, pair: int) -> bytes:
        """The same packets as a pcap file with nanoseconds, from the IP header on."""

class CaptureReader:
    """A capture of packets, packed or not, that is read in steps."""

    def __init__(self, path: str) -> None:
        """Raises OSError, or InvalidValueError if this is not a capture."""

    def advance(self, packets: int) -> bool:
        """Look at so many packets more, without the interpreter's lock; False at the end.

        Raises InvalidValueError where the file is damaged.
        """

    def bytes(self) -> int:
        """How much of the file has been read."""

    def finish(self) -> str:
        """What was found, in JSON, without the losses; once, at the end."""

    def losses(
        self, flow: int
    ) -> tuple[list[int], list[int], list[int], list[int], list[int], list[int], list[int], list[bool]]:
        """Losses of a flow, column by column, after ``finish``.

        Time (ns since 1970), packet, packet of all flows, position (bytes), bytes, transmission, time of the
        repair, whether it was lost beyond the capture.
        """

def exchange(
    path: str, interface: str, sender: str, receiver: str
) -> tuple[
    tuple[list[int], list[int], list[int], list[str]],
    tuple[list[int], list[int], list[int | None]],
    tuple[list[int], list[int], list[int]],
]:
    """The data that ``sender`` sent to ``receiver`` (address and port), as one interface saw them.

    Data: time (ns since 1970), first byte, the one after the last, ``new``, ``again`` or ``late``.
    Acknowledgements: time, bytes acknowledged, end of the window. Blocks of selective ones: time, first
    byte, the one after the last. Raises OSError, or
    InvalidValueError where the file is damaged.
    """

class Stop:
    """A flag that ends simulations in other threads."""

    def set(self) -> None:
        """End every simulation that has the flag, within milliseconds and for good."""

    def is_set(self) -> bool:
        """Whether it was set."""

def simulate_many(
    plans: list[str], *, stop: Stop | None = None
) -> list[tuple[str | None, str | None, str | None]]:
    """Simulate plans in JSON one after another, without the interpreter's lock.

    For each: what was counted (JSON), its echo requests (CSV; ``None`` without pings), and what is wrong.
    Fewer than there are plans if ``stop`` was set.
    """

def draw(seed: int, name: str, distribution: str) -> float:
    """The first draw of a named stream from a distribution of the plan, in JSON. Raises InvalidValueError."""

def uniforms(seed: int, name: str, count: int) -> list[float]:
    """The first draws of a named stream, uniform on [0, 1)."""

def serve_hosts(
    plan: str,
    *,
    directory: str,
    kernel: Mapping[str, Any],
    hosts: list[int],
    incoming: int,
    outgoing: int,
    key: bytes | None,
    pack: Callable[[], str],
) -> None:
    """Run hosts on this machine as the controller of the virtual clock says.

    It is at the other end of the descriptors ``incoming`` and ``outgoing``; with a ``key``, what passes is
    encrypted and authenticated. In the end it is sent the archive that ``pack`` makes and names. Raises
    LiveError if it does not speak this protocol.
    """

def run_as_init() -> None:
    """Run as the first process of a host that is a kernel of its own, and power it off in the end.

    Raises LiveError.
    """

def run_live(
    plan: str,
    *,
    directory: str,
    run: str,
    line: int | None,
    client: int | None,
    socket: str | None,
    keep: bool,
    scratch: list[str],
    memory_bytes: int | None,
    kernel: Mapping[str, Any] | None,
    foreign: list[dict[str, Any]],
    machines: Mapping[str, Any] | None,
    shards: list[int] | None,
) -> int:
    """Run a plan in JSON live, in new namespaces; returns 0, or 70 when it failed.

    With a ``kernel`` (see :class:`longhaul.run.virtual_clock.VirtualClock`), every host is a kernel of
    its own, on a virtual clock.

    The calling process must have one thread and should do nothing else afterwards. ``line`` is a
    descriptor of the private line to the client, the process ``client``; ``socket`` is where others may talk
    to the run. ``scratch`` is removed afterwards if the client is gone.
    """

def oom_kills() -> tuple[str, int] | None:
    """Where the kernel counts what it killed for memory in this control group, and how many so far."""

def oom_kills_since(file: str, count: int) -> str | None:
    """In words, those that it has killed since it had killed ``count``; ``None`` if there are none."""

def run_in_host(
    *,
    supervisor: int,
    namespaces: dict[str, int],
    argv: list[str],
    env: dict[str, str],
    cwd: str,
    cgroups: list[str],
    credentials: str,
    strict: bool,
) -> int:
    """Run a command in a host of a run that is up; returns its exit code. Raises LiveError.

    ``strict``: it is isolated as programs of the scenario are.
    """

def system_directories() -> list[str]:
    """Directories that are read-only for programs of hosts, and to which files of a host can be added."""

def strict_capabilities() -> int:
    """A bit for each capability that strict isolation leaves to programs of hosts (linux/capability.h)."""

def check_limits(*, cpu: bool, memory: bool) -> None:
    """Raise LiveError if hosts of a run of this process could not be limited so."""

def own_cgroup() -> str | None:
    """This process's control group (version 2), if the machine has them."""

def cgroup_prefix() -> str:
    """What the names of runs' control groups begin with."""

def add_stencil(
    sizes: tuple[int, int, int], input_: Any, weights: tuple[float, float, float, float], output: Any
) -> None:
    """Add a 27-point stencil of ``input_`` to the inner points of ``output``; doubles, with ghosts."""

def restrict(
    fine: tuple[int, int, int],
    input_: Any,
    coarse: tuple[int, int, int],
    offset: tuple[int, int, int],
    output: Any,
) -> None:
    """The coarse grid: inner point i of it lies at inner point 2 i + offset of the fine one."""

def interpolate(coarse: tuple[int, int, int], input_: Any, fine: tuple[int, int, int], output: Any) -> None:
    """Add a coarse grid to a fine one, trilinearly."""

def multiply_sparse(starts: Any, columns: Any, values: Any, x: Any, product: Any) -> None:
    """``product = A x``; ``starts`` and ``columns`` are arrays of 32-bit integers, one row after another."""

def count_keys(keys: Any, lowest: int, shift: int, counts: Any) -> None:
    """Add to ``counts[(key - lowest) >> shift]`` for each key; 32-bit integers."""

def distribute_keys(keys: Any, shift: int, next_: Any, output: Any) -> None:
    """Write each key to ``output[next_[key >> shift]]`` and move that place on; 32-bit integers."""

def relax(grid: Any, columns: int, parity: int, omega: float) -> float:
    """Update where row + column + parity is even, ends excepted; returns the largest change."""

def check_relay_plan(plan: str) -> None:
    """Check the plan of a relay in JSON. Raises InvalidValueError."""

def run_relay(
    plan: str,
    *,
    directory: str,
    socket: str | None,
    token: str | None,
    stop: int,
    ready: Callable[[str], object],
    wrapper: Callable[[int, int, int, bytes], int | bytes | tuple[bytes, int] | None] | None,
) -> str:
    """Run a relay until a byte can be read from descriptor ``stop``, or it is told to end; the GIL is free.

    ``ready`` hears once where each listener listens, as a JSON list of listener and address. ``wrapper``
    sees every message: connection, the sub-clusters that it comes from and goes to, its bytes; it returns
    nothing, more delay in ns, other bytes, or both. Returns what was done, as JSON. Raises
    InvalidValueError for an invalid plan, OSError for what cannot be opened, and the first error of
    ``wrapper``.
    """
