"""The decisions of the controller, as orders to the agents of a live run."""

import os
import selectors
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.run.session import Line
from longhaul.transfers.execute.preparation import LEAD_S, Job, watch_s
from longhaul.transfers.execute.transfer_programs import TransferProgram, filled
from longhaul.transfers.plan.controller import Controller
from longhaul.transfers.plan.progress import Order

Json = dict[str, Any]

FIRST_PORT = 7001
ALGORITHMS = ("cubic", "reno")
"""Congestion controls that leave the rate to the pacing while nothing is lost."""
SERVER_S = 0.5
"""What a server that is started again needs before its client."""


class Drive:
    """Orders out, news in."""

    def __init__(
        self,
        job: Job,
        controller: Controller,
        agents: Mapping[str, Line],
        transfer_program: TransferProgram,
        pacing: str,
        directory: Path,
        zero_s: float,
    ) -> None:
        """The plan's time is 0 at ``zero_s`` of CLOCK_MONOTONIC."""
        self._job, self._controller, self._agents = job, controller, agents
        self._transfer_program, self._pacing, self._directory, self._zero_s = (
            transfer_program,
            pacing,
            directory,
            zero_s,
        )
        self._names = {each.name: index for index, each in enumerate(job.case.requests)}
        self._openings = sorted(
            ((each.release_s, index) for index, each in enumerate(job.case.requests)), reverse=True
        )
        shift_s = LEAD_S
        self._changes = [(at_s - shift_s, link, bits) for at_s, link, bits in reversed(job.changes)]
        self._running: set[int] = set()
        """Transfers whose sender or client was started and has not ended."""
        self._listening: set[int] = set()
        self._again: list[tuple[float, int]] = []
        """Clients that wait for their server: when, and whose."""
        self._stopping: set[int] = set()
        """Clients that are to begin again at another rate."""
        self._reasons: dict[int, str] = {}

    def until_over(self, selector: selectors.BaseSelector, stop: threading.Event) -> None:
        """Work until all requests are served or refused, or the run ends."""
        watch = min(watch_s(self._job), 0.2)
        while not stop.is_set():
            now_s = self._now_s()
            while self._openings and self._openings[-1][0] - LEAD_S <= now_s:
                self._open(self._openings.pop()[1])
            while self._changes and self._changes[-1][0] <= now_s:
                _at, link, bits_per_s = self._changes.pop()
                self._controller.tell_link(link, bits_per_s, now_s)
            for index in [each for at_s, each in self._again if at_s <= now_s]:
                self._begin_client(index)
            self._again = [each for each in self._again if each[0] > now_s]
            if now_s >= 0:
                for order in self._controller.advance(now_s):
                    self._obey(order)
                if self._controller.is_over:
                    return
            times = [now_s + watch, max(0.0, self._controller.next_s(now_s))]
            times += [self._openings[-1][0] - LEAD_S] if self._openings else []
            times += [self._changes[-1][0]] if self._changes else []
            for key, _events in selector.select(max(min(times) - self._now_s(), 0.0)):
                if not self._hear(key.data):
                    return
            if self._transfer_program.resumes:
                self._look()

    def _now_s(self) -> float:
        return time.monotonic() - self._zero_s

    def _tell(self, end: int, index: int, order: Json) -> None:
        node = self._job.resolved.plan["nodes"][self._job.ends[index][end]]
        self._agents[node["name"]].tell(order)

    def _hear(self, line: Line) -> bool:
        """Take in all that an agent has said; false if it is gone."""
        while (message := line.hear()) is not None:
            name, _, end = str(message.get("id", "")).rpartition("/")
            index = self._names.get(name)
            if index is not None:
                self._news(index, end, message)
            if not line.is_more:
                return True
        return False

    def _news(self, index: int, end: str, message: Json) -> None:
        at_s = message.get("t", 0.0) - self._zero_s
        match message["event"], end:
            case "listening", _:
                self._listening.add(index)
                self._send(index)
            case "progress", _:
                self._controller.tell_progress(index, message["bytes"], at_s)
            case "done", _:
                self._done(index, at_s)
            case "error", _:
                self._reasons[index] = message["why"]
            case "gone", "client":
                self._running.discard(index)
                if index in self._stopping:
                    self._stopping.discard(index)
                    self._begin_again(index)
                elif not message["code"]:
                    self._done(index, at_s)
                else:
                    self._fail(index, at_s, message["why"])
            case "gone", "sender":
                self._running.discard(index)
                if message["code"]:
                    self._fail(index, at_s, message["why"])
            case "gone", "receiver" if message["code"]:
                self._listening.discard(index)
                self._tell(0, index, {"do": "stop", "id": self._key(index, "sender")})

    def _done(self, index: int, at_s: float) -> None:
        if self._controller.transfers[index].state in ("moving", "waiting"):
            self._controller.tell_done(index, at_s)
        if self._transfer_program.server:
            self._tell(1, index, {"do": "stop", "id": self._key(index, "server")})

    def _fail(self, index: int, at_s: float, why: str) -> None:
        if self._controller.transfers[index].state == "moving":
            self._controller.tell_failure(index, at_s, why=self._reasons.pop(index, why))

    def _key(self, index: int, end: str) -> str:
        return f"{self._job.case.requests[index].name}/{end}"

    def _address(self, index: int) -> str:
        node = self._job.resolved.plan["nodes"][self._job.ends[index][1]]
        return str(node["ipv4"] or node["ipv6"])

    def _open(self, index: int) -> None:
        """Make the connection, or start the server, ahead of the request's release."""
        request = self._job.case.requests[index]
        if self._transfer_program.client:
            self._serve(index)
            return
        where = {"address": self._address(index), "port": FIRST_PORT + index, "bytes": request.volume_bytes}
        self._tell(1, index, {"do": "receive", "id": self._key(index, "receiver"), **where})

    def _send(self, index: int) -> None:
        """Connect; data follow when a rate does."""
        transfer = self._controller.transfers[index]
        if transfer.state in ("refused", "done", "failed"):
            return
        self._running.add(index)
        order = {
            "do": "send",
            "id": self._key(index, "sender"),
            "address": self._address(index),
            "port": FIRST_PORT + index,
            "bytes": transfer.request.volume_bytes,
            "offset": transfer.received_bytes,
            "pacing": self._pacing,
            "congestion_control": ALGORITHMS,
        }
        self._tell(0, index, order)
        if transfer.ordered_bits_per_s:
            self._pace(index, transfer.ordered_bits_per_s)

    def _obey(self, order: Order) -> None:
        index = order.index
        if not self._transfer_program.client:
            if index in self._running:
                self._pace(index, order.bits_per_s)
            elif index in self._listening:
                self._send(index)
            elif self._controller.transfers[index].attempts > 1:
                self._open(index)
            return
        if index not in self._running:
            if self._controller.transfers[index].attempts > 1:
                self._begin_again(index)
            else:
                self._begin_client(index)
        elif self._transfer_program.resumes:
            self._stopping.add(index)
            self._tell(0, index, {"do": "stop", "id": self._key(index, "client")})

    def _pace(self, index: int, bits_per_s: float) -> None:
        self._tell(0, index, {"do": "pace", "id": self._key(index, "sender"), "bits_per_s": bits_per_s})

    def _begin_again(self, index: int) -> None:
        if self._controller.transfers[index].ordered_bits_per_s:
            self._serve(index)
            self._again.append((self._now_s() + SERVER_S, index))

    def _serve(self, index: int) -> None:
        if self._transfer_program.server:
            words = self._words(index)
            order = self._command(index, "server", self._transfer_program.server, words)
            if self._transfer_program.file:
                order["text"] = [
                    f"{words['folder']}/server.conf",
                    filled_text(self._transfer_program.file, words),
                ]
            self._tell(1, index, order)

    def _begin_client(self, index: int) -> None:
        transfer = self._controller.transfers[index]
        if transfer.state != "moving" or index in self._running:
            return
        self._running.add(index)
        words = self._words(index)
        order = self._command(index, "client", self._transfer_program.client, words)
        if "{source}" in self._transfer_program.client:
            order |= {"file": words["source"], "bytes": transfer.request.volume_bytes}
        self._tell(0, index, order)

    def _command(self, index: int, end: str, template: str, words: Json) -> Json:
        log = self._directory.absolute() / "logs" / f"{words['name']}.{end}.out"
        folders = [words["folder"], os.path.dirname(words["source"])]
        return {
            "do": "run",
            "id": self._key(index, end),
            "argv": filled(template, words),
            "log": str(log),
            "make": folders,
        }

    def _words(self, index: int) -> Json:
        transfer = self._controller.transfers[index]
        request, rate = transfer.request, transfer.ordered_bits_per_s or self._job.case.tops_bits_per_s[index]
        data = self._directory.absolute() / "data"
        folder = data / request.destination / request.name
        return {
            "name": request.name,
            "address": self._address(index),
            "port": FIRST_PORT + index,
            "bytes": request.volume_bytes,
            "rate_bits": round(rate),
            "rate_bytes": round(rate / 8),
            "rate_kbytes": max(round(rate / 8 / 1024), 1),
            "seconds": f"{request.volume_bits / rate:.3f}",
            "source": str(data / request.source / request.name),
            "destination": str(folder / request.name),
            "folder": str(folder),
            "uid": os.getuid(),
            "gid": os.getgid(),
        }

    def _look(self) -> None:
        """How far commands are, by what has been written."""
        for index in self._running:
            path = self._words(index)["destination"]
            try:
                size = os.stat(path).st_size
            except OSError:
                continue
            self._controller.tell_progress(index, size, self._now_s())


def filled_text(template: str, words: Json) -> str:
    """A file with words in braces."""
    return template.format(**words)
