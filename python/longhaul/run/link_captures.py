"""Captures of links that begin while a run is running."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from longhaul import processes
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.results import directory as directories
from longhaul.results import ending, live_captures
from longhaul.results.growing_captures import GrowingCapture, packet_of
from longhaul.results.segments import capture_path
from longhaul.run import run_discovery, session
from longhaul.run.persistent_networks import unknown
from longhaul.scenario.model.scenario import useless_snaplen

SNAPLEN_BYTES = 256
"""Kept of each packet where nobody asks for more: all headers."""
LIMIT_BYTES = 256 << 20
"""Size of a link's files at which its capture ends."""
_BETWEEN_READS_S = 0.1
_BETWEEN_QUESTIONS_S = 1.0
"""To the engine, whether it captures the link."""


@dataclass(frozen=True)
class LinkCapture:
    """A link of a run whose packets are captured, at both of its ends."""

    socket: Path
    pid: int
    """A process that lives as long as the run."""
    directory: Path
    plan: Plan
    link: int
    """Its position in the plan."""
    is_new: bool
    """Whether it was not captured before."""
    snaplen_bytes: int
    unix_start_ns: int
    """Unix time of the run's start."""
    since_ns: int
    """Unix time from which it was asked for."""
    is_divided: bool
    """Whether the run has several engine threads or machines, which join their packets."""
    files: Mapping[str, GrowingCapture]
    """Those of both ends, by node, read up to what was there before."""

    @property
    def name(self) -> str:
        """The link's name."""
        return self.plan["links"][self.link]["name"]

    @property
    def nodes(self) -> list[str]:
        """The nodes at its ends."""
        return list(self.files)

    @property
    def is_running(self) -> bool:
        """Whether the run has not ended; a divided one has when its packets are joined."""
        if self.is_divided:
            return ending.read(self.directory).is_running
        return processes.is_running(self.pid)

    @property
    def is_on(self) -> bool:
        """Whether packets are captured: until the limit, or the end of the run."""
        try:
            status = session.ask(self.socket, {"do": "status"})
        except LonghaulError:
            return False
        return self.link in status["engine"]["captured_links"]

    @property
    def settled_s(self) -> float:
        """How long after the end of the capture all of its packets are in the files."""
        return 6.0 if self.is_divided else 2.0

    def path(self, node: str) -> Path:
        """The pcapng file of what passes its end at ``node``. Raises LonghaulError if that is not an end."""
        _require_end(self.name, self.nodes, node)
        return self.files[node].path

    def follow(self, node: str) -> Iterator[tuple[bytes, bytes]]:
        """The packets that pass the end at ``node`` since the capture was asked for, until it ends.

        Each is a block of pcapng, beside the blocks that a file of such packets begins with. Raises
        LonghaulError if ``node`` is not an end.
        """
        self.path(node)
        growing = self.files[node]
        asked_s = time.monotonic()
        until_s = math.inf
        has_ended = False
        while not has_ended:
            now_s = time.monotonic()
            if until_s == math.inf and now_s - asked_s >= _BETWEEN_QUESTIONS_S:
                asked_s = now_s
                until_s = math.inf if self.is_on else now_s + self.settled_s
            has_ended = now_s > until_s or not self.is_running
            for block in growing.blocks():
                if packet_of(block).unix_ns >= self.since_ns:
                    yield growing.head, block
            if not has_ended:
                time.sleep(_BETWEEN_READS_S)

    def end(self) -> None:
        """End it, if it began with this object, and the run has not ended it; what was captured stays."""
        if self.is_new:
            with suppress(LonghaulError):
                session.ask(self.socket, {"do": "end_capture", "link": self.link})


def begin(
    socket: Path,
    link: str,
    *,
    node: str | None = None,
    snaplen_bytes: int = SNAPLEN_BYTES,
    limit_bytes: int = LIMIT_BYTES,
) -> LinkCapture:
    """Capture the packets of a link from now on, in the run whose socket is ``socket``.

    A link that is captured already is not captured twice. Raises LonghaulError if there is no such link, or
    if ``node`` is not at an end of it.
    """
    if (wrong := useless_snaplen(snaplen_bytes)) is not None:
        raise LonghaulError(Code.OUT_OF_RANGE, wrong[0], remedy=wrong[1], exit_code=2)
    running = run_discovery.at(socket)
    if running is None:
        # Coordinated by the command that started it, or about to end.
        pid, answer = session.hosts_of(socket)
        if not answer.get("ok"):
            raise LonghaulError(Code.RUN_REQUEST_REFUSED, str(answer.get("message")), exit_code=2)
        directory = Path(answer["env"]["LONGHAUL_RUN"])
    else:
        pid, directory = running.pid, running.directory
    plan = directories.read_plan(directory)
    if "nodes" not in plan:
        raise LonghaulError(
            Code.RUN_REQUEST_REFUSED,
            "a relay carries connections, and has no packets to capture",
            remedy="capture at its interface: tcpdump -i lo",
            exit_code=2,
        )
    names = [each["name"] for each in plan["links"]]
    if link not in names:
        raise LonghaulError(Code.LINK_UNKNOWN, unknown("link", link, names), exit_code=2)
    index = names.index(link)
    ends = [plan["nodes"][end]["name"] for end in plan["links"][index]["endpoints"]]
    if node is not None:
        _require_end(link, ends, node)
    files = {end: GrowingCapture(capture_path(directory, link, end)) for end in ends}
    for each in files.values():
        each.skip_to_end()
    request = {"do": "capture", "link": index, "snaplen": snaplen_bytes, "limit_bytes": limit_bytes}
    engine = session.ask(socket, request)["engine"]
    is_divided = bool(directories.read_run(directory).get("machines"))
    if is_divided:
        live_captures.request(directory, link, ends)
    return LinkCapture(
        socket=socket,
        pid=pid,
        directory=directory,
        plan=plan,
        link=index,
        is_new=engine["is_new"],
        snaplen_bytes=engine["snaplen"],
        unix_start_ns=engine["unix_start_ns"],
        since_ns=engine["since_ns"],
        is_divided=is_divided,
        files=files,
    )


def _require_end(link: str, ends: Sequence[str], node: str) -> None:
    if node not in ends:
        raise LonghaulError(
            Code.LINK_UNKNOWN,
            f'link {link} has no end at "{node}"',
            remedy=f"name {ends[0]} or {ends[1]}",
            exit_code=2,
        )


def host_names(plan: Plan) -> dict[str, str]:
    """The nodes' names by their addresses."""
    return dict(_addresses(plan))


def _addresses(plan: Plan) -> Iterator[tuple[str, str]]:
    for node in plan["nodes"]:
        for address in (node["ipv4"], node["ipv6"]):
            if address:
                yield address, node["name"]
