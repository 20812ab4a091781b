"""Requests about the hosts of a live run: what they are doing, and shells in terminals."""

import asyncio
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page.bodies import TerminalMessage, TerminalStart, read_body
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.hosts import HostNow, TerminalList, TerminalRow
from longhaul.page.responses.texts import Done
from longhaul.page.run_requests import Experiments
from longhaul.page.terminals import Tab, Terminal
from longhaul.run.host_state import host_state
from longhaul.run.persistent_networks import enterable_host

MOST_OF_A_RUN = 8
MOST_TERMINALS = 24
"""Shells at once, of all runs."""
MOST_TABS = 8
"""That show one terminal."""
PROTOCOL = "longhaul.terminal"
"""The WebSocket protocol: output as binary messages, everything else as JSON."""
_REFUSED, _GONE, _FULL = 4400, 4404, 4409
"""Close codes of WebSockets."""


@dataclass
class Hosts:
    """Shells in the hosts of runs, by their ids."""

    experiments: Experiments
    _terminals: dict[str, tuple[str, Terminal]] = field(default_factory=dict)
    """Each with the id of its run."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self, asked: Asked) -> HostNow:
        """What a host is doing."""
        socket = self.experiments.socket_of(self.experiments.directory_of(asked), to_be="entered")
        found = host_state(socket, asked.path["host"])
        return {
            "host": asked.path["host"],
            "processes": [asdict(each) for each in found.processes],  # type: ignore[misc]
            "interfaces": [
                {"name": name, "state": state, "addresses": addresses}
                for name, state, addresses in found.addresses
            ],
            "routes": found.routes,
            "sockets": [asdict(each) for each in found.sockets],  # type: ignore[misc]
        }

    def terminals(self, asked: Asked) -> TerminalList:
        """The shells of a run."""
        self.experiments.directory_of(asked)
        return {"terminals": [_row(each) for each in self._of(asked.path["run"])]}

    def start_terminal(self, asked: Asked, body: TerminalStart) -> TerminalRow:
        """Start a shell in a host."""
        run = asked.path["run"]
        socket = self.experiments.socket_of(self.experiments.directory_of(asked), to_be="entered")
        enterable_host(socket, body.host)
        with self._lock:
            of_run = len(self._of(run))
            if of_run >= MOST_OF_A_RUN or len(self._terminals) >= MOST_TERMINALS:
                there = (
                    f"this run has {of_run} shells" if of_run >= MOST_OF_A_RUN else "too many shells are open"
                )
                raise RefusedError(Code.PAGE_CONFLICT, 409, there, remedy="end one of them with exit")
            terminal = Terminal(socket, body.host, cwd=self.experiments.texts.directory)
            self._terminals[terminal.id] = (run, terminal)
        return _row(terminal)

    def end_terminal(self, asked: Asked) -> Done:
        """End a shell."""
        run, terminal = self._terminals.get(asked.path["terminal"], ("", None))
        if terminal is None or run != asked.path["run"]:
            raise RefusedError(
                Code.PAGE_NOT_FOUND, 404, "this shell has ended", remedy="open another terminal"
            )
        terminal.hang_up()
        return {"ok": True}

    async def terminal(self, socket: WebSocket) -> None:
        """Connect a tab with a shell, both ways, until either ends."""
        run, terminal = self._terminals.get(socket.path_params["terminal"], ("", None))
        await socket.accept(subprotocol=PROTOCOL if PROTOCOL in socket.scope["subprotocols"] else None)
        if terminal is None or run != socket.path_params["run"]:
            await socket.close(_GONE, "this shell has ended")
            return
        if len(terminal.tabs) >= MOST_TABS:
            await socket.close(_FULL, f"{MOST_TABS} tabs show this terminal already; close one of them")
            return
        tab = terminal.attach()
        sending = asyncio.create_task(self._send(socket, terminal, tab))
        try:
            await _receive(socket, terminal, tab)
        except LonghaulError as error:
            with suppress(RuntimeError, WebSocketDisconnect):
                await socket.close(_REFUSED, error.message[:100])
        finally:
            terminal.detach(tab)
            sending.cancel()

    async def _send(self, socket: WebSocket, terminal: Terminal, tab: Tab) -> None:
        """Send the output, and whatever else changes, as fast as the tab draws it."""
        size = None
        replayed = terminal.end
        is_replay = True
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                tab.wake.clear()
                if size != (size := (terminal.columns, terminal.rows)):
                    await _tell(socket, {"columns": size[0], "rows": size[1]})
                output, has_missed = terminal.unsent(tab)
                if has_missed:
                    await _tell(socket, {"clear": True})
                if output:
                    await socket.send_bytes(output)
                if is_replay and tab.sent >= replayed:
                    is_replay = False
                    await _tell(socket, {"replayed": True})
                if output:
                    continue
                if terminal.exit_code is not None and tab.sent == terminal.end:
                    self._terminals.pop(terminal.id, None)
                    await _tell(socket, {"exit_code": terminal.exit_code})
                    await socket.close()
                    return
                await tab.wake.wait()

    def close(self) -> None:
        """End all shells, from any thread."""
        for _run, terminal in list(self._terminals.values()):
            terminal.hang_up()

    def _of(self, run: str) -> list[Terminal]:
        """The shells of a run, without those that have ended."""
        for name, (_run, terminal) in list(self._terminals.items()):
            if terminal.is_over():
                self._terminals.pop(name, None)
        return [terminal for of, terminal in list(self._terminals.values()) if of == run]


async def _receive(socket: WebSocket, terminal: Terminal, tab: Tab) -> None:
    """Pass on what a tab says until it goes. Raises LonghaulError if it cannot be understood."""
    with suppress(WebSocketDisconnect):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            said = read_body((message.get("text") or "").encode(), TerminalMessage)
            if said.columns is not None and said.rows is not None:
                terminal.resize(said.columns, said.rows)
            if said.drawn is not None:
                tab.drawn = min(tab.sent, tab.drawn + said.drawn)
                tab.wake.set()
            if said.input is not None:
                terminal.type(said.input.encode())


async def _tell(socket: WebSocket, what: Mapping[str, Any]) -> None:
    await socket.send_text(json.dumps(what))


def _row(terminal: Terminal) -> TerminalRow:
    return {
        "id": terminal.id,
        "host": terminal.host,
        "started_unix_s": terminal.started_unix_s,
        "tabs": len(terminal.tabs),
    }
